# mpsd-VERSION-oci-cuda-MACHINE.tar: the image of the kind oci with a third layer, for NVIDIA's GPUs: what
# libtorch has for CUDA, beside the libtorch of the layer below, and CUDA's libraries. No library lies
# in two layers. Fetches 2.5 GB, which `./run serve --cuda` uses too.
. "$here/kinds/oci.sh"

stage_cuda() { # FOLDER: of the layers
  local target=$1/cuda/opt/mpsd library
  bash "$root/cmake/setup/libtorch.sh" "$root/.deps" cuda
  mkdir -p "$target/lib/mpsd"
  for library in c10_cuda torch_cuda torch_cuda_linalg torch_nvshmem caffe2_nvrtc; do
    cp "$root/.deps/libtorch/lib/lib$library.so" "$target/lib/mpsd"
  done
  # libtorch_cuda looks for them there, seen from its own folder.
  cp -r "$root/.deps/nvidia" "$target"
  for library in "$1"/mpsd/opt/mpsd/lib/mpsd/*; do
    find "$target/nvidia" -name "${library##*/}" -delete
  done
}

make_oci-cuda() {
  local folder
  # Docker's runtime for NVIDIA brings the driver's libraries only to an image that asks for them.
  image_settings=(--config.env NVIDIA_VISIBLE_DEVICES=all
    --config.env NVIDIA_DRIVER_CAPABILITIES=compute,utility)
  folder=$(fresh_folder oci-cuda)
  make_layers "$folder"
  stage_cuda "$folder"
  make_layer "$folder/cuda" "$folder/cuda.tar"
  write_image "$folder" "$out/mpsd-$version-oci-cuda-$machine.tar" "$folder"/{base,mpsd,cuda}.tar
}
