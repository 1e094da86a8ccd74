#!/bin/sh
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
# Builds the embedding examples as a stranger would: out of tree, against an installed prefix, by find_package and by
# pkg-config, and runs them; every command is traced. CC and CXX say with which compilers. Usage: embed.sh SOURCE BUILD ARTIFACT MEMBERS
set -eux
source=$1 build=$2 artifact=$3 members=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix

cmake --install "$build" --prefix "$prefix"
cp -r "$source/examples/embed-c" "$source/examples/embed-cpp" "$work"
libdir=$(dirname "$(find "$prefix" -name libtutti.so)")
export PKG_CONFIG_PATH="$libdir/pkgconfig" LD_LIBRARY_PATH="$libdir"

# Where libraries lie in a folder for each architecture, pkg-config finds the headers, too.
cmake -G Ninja -S "$source" -B "$work/nested" -DTUTTI_BUILD_COMPILER=OFF -DBUILD_TESTING=OFF -DCMAKE_INSTALL_LIBDIR=lib/some-linux
mkdir -p "$work/usr/lib/some-linux/pkgconfig" "$work/usr/include"
cp "$work/nested/runtime/tutti.pc" "$work/usr/lib/some-linux/pkgconfig"
include=$(PKG_CONFIG_PATH="$work/usr/lib/some-linux/pkgconfig" pkg-config --variable=includedir tutti)
[ "$(realpath "$include")" = "$(realpath "$work/usr/include")" ] || { echo "pkg-config says $include"; exit 1; }

for example in embed-c embed-cpp; do
  cd "$work/$example"
  lines=$(cat main.c* | wc -l)
  [ "$lines" -lt 60 ] || { echo "$example has $lines lines, expected under 60"; exit 1; }
  if command -v make >/dev/null; then
    make CC="${CC:-cc}" CXX="${CXX:-c++}" CFLAGS="-Wall -Werror" CXXFLAGS="-Wall -Werror" # flags as packagers give them
  else # what the Makefile would do
    case $example in embed-c) compiler="${CC:-cc} -std=c99" ;; *) compiler="${CXX:-c++} -std=c++20" ;; esac
    $compiler main.c* -o "$example" $(pkg-config --cflags --libs tutti)
  fi
  cmake -G Ninja -S . -B out -DCMAKE_PREFIX_PATH="$prefix"
  cmake --build out
  for program in "./$example" "out/$example"; do
    "$program" "$artifact" > output.txt || { echo "$program failed:"; cat output.txt; exit 1; }
    grep -q "$members members" output.txt || { echo "$program printed:"; cat output.txt; exit 1; }
    grep -q 'mean' output.txt || { echo "$program printed no mean:"; cat output.txt; exit 1; }
  done
  code=0; "./$example" /nowhere.tutti 2> output.txt || code=$?
  [ "$code" = 2 ] || { echo "$example exits with $code for a file that is not there, expected 2"; exit 1; }
  grep -q "no such file" output.txt
done

# A run whose output cannot be had has failed.
cd "$work/embed-cpp"
echo '#include <tutti/tutti.h>
extern "C" tutti_status_t __wrap_tutti_session_get_output(...) { return TUTTI_INTERNAL; }' > wrap.cpp
${CXX:-c++} -std=c++20 main.cpp wrap.cpp -o wrapped $(pkg-config --cflags --libs tutti) -Wl,--wrap=tutti_session_get_output
code=0; ./wrapped "$artifact" > output.txt || code=$?
[ "$code" = 70 ] || { echo "embed-cpp exits with $code for an output that cannot be had, expected 70"; exit 1; }

# A C program with the archive, as pkg-config says.
cd "$work/embed-c"
${CC:-cc} -std=c99 main.c -o static $(pkg-config --cflags tutti) $(pkg-config --static --libs tutti | sed "s|-ltutti|$libdir/libtutti.a|")
env -u LD_LIBRARY_PATH ./static "$artifact" | grep -q "$members members"

# As a part of somebody's own build: the runtime alone, and none of their settings is changed.
mkdir "$work/host" && cd "$work/host"
cat > CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.22)
project(host C)
include(FetchContent)
FetchContent_Declare(tutti SOURCE_DIR "$source")
FetchContent_MakeAvailable(tutti)
add_executable(host ../embed-c/main.c)
target_link_libraries(host PRIVATE Tutti::tutti_static)
foreach(variable CMAKE_BUILD_TYPE BUILD_TESTING CMAKE_RUNTIME_OUTPUT_DIRECTORY CPACK_GENERATOR)
  if(\${variable})
    message(FATAL_ERROR "\${variable} is \${\${variable}}")
  endif()
endforeach()
END
cmake -G Ninja -S . -B out
cmake --build out
out/host "$artifact" | grep -q "$members members"
