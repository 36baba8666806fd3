// Package language has the commands of tensorken for language models: run, chat and embed. Flags
// become llm.GenerateOptions in flags.go; each command has a file.
package language
