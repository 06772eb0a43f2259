/* Prints how many GPUs there are; exit code 77 where there is none. */
#include <cuda_runtime_api.h>
#include <stdio.h>

int main(void) {
    int gpus = 0;
    if (cudaGetDeviceCount(&gpus) != cudaSuccess)
        gpus = 0;
    printf("%d\n", gpus);
    return gpus > 0 ? 0 : 77;
}
