# Where the cross-build for Linux aarch64 lies, and how its programs run here. Sourced by check.sh
# and deploy/packages/common.sh, which set `root`, the clone.

arm64=$root/.deps/arm64
build=$root/build/arm64
libtorch=$arm64/libtorch
sysroot=$arm64/sysroot
architecture=arm64
strip=aarch64-linux-gnu-strip
# The processor of Graviton 2 and Ampere Altra, on any host.
emulate=(qemu-aarch64-static -cpu neoverse-n1 -L "$sysroot")
ldd=("${emulate[@]}" "$sysroot/lib/ld-linux-aarch64.so.1" --list)
# For dpkg-shlibdeps: the files of the packages are the sysroot's.
export DPKG_ADMINDIR=$arm64/dpkg
library_path=$sysroot/lib/aarch64-linux-gnu:$sysroot/usr/lib/aarch64-linux-gnu
configure=(-B "$build" --toolchain "$root/cmake/arm64/toolchain.cmake" -DMPSD_WERROR=ON)
