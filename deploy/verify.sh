#!/bin/sh
# Judge declared access patterns, and refuse every Scan: deploy/verify.sh PATH...
# Exit 0 without faults, 1 with faults, 2 on wrong usage. Reads files, writes nothing, calls nobody.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
if [ -x "$here/../.venv/bin/dynascope" ]; then
    exec "$here/../.venv/bin/dynascope" check --strict "$@"
fi
if command -v dynascope >/dev/null 2>&1; then
    exec dynascope check --strict "$@"
fi
echo "verify.sh: dynascope is not installed; run 'make install' first" >&2
exit 2
