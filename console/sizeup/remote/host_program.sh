# The program that `sizeup run --target` runs on a host that gets the one-file executable: take it, measure, remove
# everything. For any POSIX shell; it needs chmod, df, head, mkfifo, mktemp, rm, sleep, uname and wc.
#
# Standard input brings this program, then the size of the executable, each option behind a "=", ".", the executable, and
# then nothing: it stays open, and its end says that the connection is lost, which cancels the run (--control). Standard
# output carries one line that describes the host, and then the session as it is measured.

# Print the name of a new directory that is private, has space, and may hold programs.
make_private() {
    for folder in "$TMPDIR" /tmp /var/tmp "$HOME"; do
        [ -n "$folder" ] || continue
        tried="$tried $folder"
        free=$(df -Pk "$folder" 2>/dev/null | { read -r device; read -r device size used free rest; echo "$free"; })
        [ "${free:-0}" -ge 131072 ] || continue
        made=$(mktemp -d "$folder/sizeup-XXXXXX" 2>/dev/null) || continue
        { printf '#!/bin/sh\n' > "$made/sizeup" && chmod 700 "$made/sizeup"; } 2>/dev/null
        "$made/sizeup" 2>/dev/null && echo "$made" && return
        rm -rf "$made"
    done
    echo "no directory for temporary files is writable, has 128 MiB free and is mounted without noexec (tried$tried);" \
        "set TMPDIR on the host" >&2
    return 1
}

# Remove the directory once the shell has ended, even if it was killed; end what it had started before.
clean() {
    trap '' HUP INT TERM
    read -r process
    read -r over
    if [ -n "$process" ] && [ -z "$over" ] && kill "$process"; then
        left=20
        while [ $left -gt 0 ] && kill -0 "$process"; do sleep 1; left=$((left - 1)); done
        kill -9 "$process"
    fi
    rm -rf "$private"
}

main() {
    umask 077
    printf '\nsizeup-target {"machine": "%s"}\n' "$(uname -m)"
    read -r size
    [ -n "$size" ] || exit 0 # it does not fit this host
    set --
    while IFS= read -r line && [ "$line" != . ]; do set -- "$@" "${line#=}"; done
    private=$(make_private) || exit 3
    mkfifo "$private/end"
    exec 3<&0
    clean < "$private/end" > /dev/null 2>&1 3<&- & # with those held open, the connection would not end
    exec 4> "$private/end"

    head -c "$size" <&3 > "$private/sizeup" 4>&- && [ "$(wc -c < "$private/sizeup")" -eq "$size" ]
    status=$?
    if [ $status -eq 0 ]; then
        TMPDIR=$private SIZEUP_RUNTIME=$private/runtime \
            "$private/sizeup" --batch --quiet --control -o - "$@" <&3 4>&- &
        process=$!
        trap 'kill "$process" 2>/dev/null' HUP INT TERM
        echo "$process" >&4
        exec 3<&-
        wait "$process"
        status=$?
        while kill -0 "$process" 2>/dev/null; do # a signal ended the wait, not the process
            wait "$process"
            status=$?
        done
    else
        echo >&4
    fi
    echo over >&4
    exec 4>&-
    wait
    exit $status
}
main
