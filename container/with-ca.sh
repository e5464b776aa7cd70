#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# with-ca.sh COMMAND...: runs it so that apt and pip also trust the build secret "ca", a bundle of CA certificates in PEM,
# where there is one. Nothing of it stays in the image.
set -eu
if [ -f /run/secrets/ca ]; then
  own=/etc/ssl/certs/ca-certificates.crt
  bundle=$(mktemp)
  apt=$(mktemp)
  trap 'rm -f "$bundle" "$apt"' EXIT
  cat /run/secrets/ca > "$bundle"
  [ ! -f $own ] || cat $own >> "$bundle"
  chmod 644 "$bundle" # apt fetches as another user
  printf 'Acquire::https::CAInfo "%s";\n' "$bundle" > "$apt"
  export PIP_CERT="$bundle" APT_CONFIG="$apt"
fi
"$@"
