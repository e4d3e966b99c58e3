#!/bin/sh
# Makes a base image for deploy/Dockerfile where no registry of images can be reached: Debian, with the Node and the npm of this
# machine. It needs root, debootstrap and podman. `test/containers/make-base-image.sh <name> [mirror]`
set -eu
name=${1:?Usage: make-base-image.sh <name> [mirror]}
root=$(mktemp -d)
trap 'rm -rf "$root"' EXIT
debootstrap --variant=minbase --include=ca-certificates,git bookworm "$root" "${2:-http://deb.debian.org/debian}"
cp "$(command -v node)" "$root/usr/bin/node"
mkdir -p "$root/usr/lib/node_modules"
cp -R "$(npm root --global)/npm" "$root/usr/lib/node_modules/npm"
ln -s ../lib/node_modules/npm/bin/npm-cli.js "$root/usr/bin/npm"
ln -s ../lib/node_modules/npm/bin/npx-cli.js "$root/usr/bin/npx"
# The certificates that this machine trusts.
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/machine-certificates.crt"
tar -C "$root" -c . | podman import --change 'ENV NODE_EXTRA_CA_CERTS=/etc/machine-certificates.crt' --change 'CMD ["node"]' - "$name"
