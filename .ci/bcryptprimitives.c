// The library that Go's runtime takes random numbers from. Wine 8 lacks it.
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID buffer, ULONG length); // RtlGenRandom of advapi32

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE buffer, SIZE_T length) {
	return SystemFunction036(buffer, (ULONG)length);
}
