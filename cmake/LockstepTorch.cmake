# LibTorch as an imported target of our own. find_package(Torch) wants a CUDA toolkit even for a program that never touches
# CUDA, and links libtorch.so, which pulls 0.5 GB of libtorch_cuda into every worker. The engine needs two libraries.
if(LOCKSTEP_TORCH_DIR)
  set(torch_dir "${LOCKSTEP_TORCH_DIR}")
else()
  file(GLOB torch_dir "${PROJECT_SOURCE_DIR}/.venv/lib/python3*/site-packages/torch")
endif()
if(NOT EXISTS "${torch_dir}/lib/libtorch_cpu.so")
  message(FATAL_ERROR "No LibTorch found: there is no lib/libtorch_cpu.so under '${torch_dir}'. "
    "Run ./dev setup, which installs torch 2.15.0 into .venv, or pass -DLOCKSTEP_TORCH_DIR=FOLDER.")
endif()
get_filename_component(LOCKSTEP_TORCH_ROOT "${torch_dir}" REALPATH)
get_filename_component(LOCKSTEP_TORCH_SITE "${LOCKSTEP_TORCH_ROOT}" DIRECTORY)

add_library(torch_cpu INTERFACE)
# The wheel ships c10d's Gloo header but no gloo headers; cmake/gloo_shim declares the few names it mentions.
target_include_directories(torch_cpu SYSTEM INTERFACE "${LOCKSTEP_TORCH_ROOT}/include"
  "${LOCKSTEP_TORCH_ROOT}/include/torch/csrc/api/include" "${PROJECT_SOURCE_DIR}/core/engine/gloo_shim")
target_compile_definitions(torch_cpu INTERFACE USE_DISTRIBUTED USE_C10D_GLOO USE_RPC USE_TENSORPIPE)
target_link_libraries(torch_cpu INTERFACE "${LOCKSTEP_TORCH_ROOT}/lib/libtorch_cpu.so" "${LOCKSTEP_TORCH_ROOT}/lib/libc10.so")
target_link_options(torch_cpu INTERFACE "-Wl,-rpath,${LOCKSTEP_TORCH_ROOT}/lib")
add_feature_info("Training engine" TRUE "LibTorch in ${LOCKSTEP_TORCH_ROOT}")

# CUDA and NCCL are optional: they make the module lockstep_cuda, which the worker opens only for --device cuda.
find_program(LOCKSTEP_NVCC nvcc PATHS /usr/local/cuda/bin)
find_path(LOCKSTEP_NCCL_INCLUDE nccl.h PATHS "${LOCKSTEP_TORCH_SITE}/nvidia/nccl/include" /usr/include)
if(LOCKSTEP_NVCC AND LOCKSTEP_NCCL_INCLUDE)
  set(LOCKSTEP_CUDA ON)
else()
  set(LOCKSTEP_CUDA OFF)
endif()
add_feature_info("CUDA module" LOCKSTEP_CUDA "NCCL process group and CUDA kernels, for runs with --device cuda; CPU runs do not need it")
