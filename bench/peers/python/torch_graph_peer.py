"""Row work and training steps on GPUs, compiled, and captured whole in a CUDA graph."""

import torch

import pytorch_gpu_peer as gpu
import torch_compile_peer


def captured(setup):
    """A setup whose first three runs compile and allocate, as CUDA wants it, before the fourth is captured."""

    def start(inputs):
        run, side, graph = setup(inputs), torch.cuda.Stream(), torch.cuda.CUDAGraph()
        left, result = 3, None

        def replay():
            nonlocal left, result
            if left > 0:
                left -= 1
                side.wait_stream(torch.cuda.current_stream())
                with torch.cuda.stream(side):
                    result = run()
                torch.cuda.current_stream().wait_stream(side)
                return result
            if left == 0:
                left, result = -1, None
                with torch.cuda.graph(graph):
                    result = run()
            graph.replay()
            return result

        return replay

    return start


if __name__ == "__main__":
    works, steps = ({name: captured(w) for name, w in table.items()} for table in (torch_compile_peer.rows(), gpu.steps))
    gpu.main(", torch.compile in a CUDA graph", works, steps)
