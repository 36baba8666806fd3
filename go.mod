module github.com/tensorken/tensorken

go 1.26
