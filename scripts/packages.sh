# The Debian packages halogen needs, and the function that installs what is missing. Sourced by the scripts.

build_packages=(
  g++ cmake ninja-build pkg-config
  libuv1-dev libtomlplusplus-dev nlohmann-json3-dev libcli11-dev libspdlog-dev libpcre2-dev libutf8proc-dev
  libboost-dev libboost-filesystem-dev node-llhttp
  glslc libvulkan-dev
)
run_packages=(curl)
# For scripts/fuzz, besides those above.
fuzz_packages=(libclang-rt-19-dev)
test_packages=(
  libgtest-dev libgmock-dev libbenchmark-dev clang-19 clang-format-19 clang-tidy-19
  python3 python3-jinja2 python3-numpy nodejs npm abigail-tools make
  mesa-vulkan-drivers vulkan-validationlayers
)

# need_packages NAME...: installs those that are missing, with sudo where it takes that.
need_packages() {
  local missing=() package
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  # Any Node.js does; one that did not come from a package counts too.
  if command -v node >/dev/null && command -v npm >/dev/null; then
    local kept=()
    for package in "${missing[@]}"; do
      [[ $package == nodejs || $package == npm ]] || kept+=("$package")
    done
    missing=("${kept[@]}")
  fi
  [[ ${#missing[@]} -eq 0 ]] && return 0
  echo "Installing: ${missing[*]}"
  local as_root=()
  [[ $(id -u) -eq 0 ]] || as_root=(sudo)
  "${as_root[@]}" apt-get update -qq
  DEBIAN_FRONTEND=noninteractive "${as_root[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}
