# CUPTI is optional: only its headers are needed to build (the library is looked up at run time). They lie beside the CUDA headers, or
# in the toolkit's extras.
set(XS_HAVE_CUPTI OFF)
if(NOT XS_CUPTI STREQUAL "OFF")
  find_path(XS_CUPTI_INCLUDE cupti.h PATHS ${CUDAToolkit_INCLUDE_DIRS} ENV CUDA_HOME /usr/local/cuda
    PATH_SUFFIXES include extras/CUPTI/include)
  find_path(XS_CUPTI_CUDA_INCLUDE cuda.h PATHS ${CUDAToolkit_INCLUDE_DIRS} ${XS_CUPTI_INCLUDE} ENV CUDA_HOME /usr/local/cuda
    PATH_SUFFIXES include)
  if(XS_CUPTI_INCLUDE AND XS_CUPTI_CUDA_INCLUDE)
    set(XS_HAVE_CUPTI ON)
  elseif(XS_CUPTI STREQUAL "ON")
    message(FATAL_ERROR "XS_CUPTI=ON, but the headers of CUPTI were not found")
  endif()
endif()
message(STATUS "xs: CUPTI: ${XS_HAVE_CUPTI}")
