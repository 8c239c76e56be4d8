#!/bin/sh
# Installs the gateway of a clone into a new environment: dependencies by hash, then both packages without any other.
#   sh install.sh CLONE TARGET
set -eu
clone=$1 target=$2
python3 -m venv "$target"
"$target/bin/pip" install -q --no-cache-dir --require-hashes -r "$clone/runtime/requirements-hashes.txt"
"$target/bin/pip" install -q --no-cache-dir --no-deps "$clone/runtime" "$clone/cli"
# The list of hashes is that of all extras; the gateway needs none of these.
"$target/bin/pip" uninstall -q -y flatbuffers onnxruntime protobuf pyarrow zstandard
"$target/bin/textveil" verify
