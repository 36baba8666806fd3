package grad
