# shellcheck shell=bash disable=SC2034,SC2154,SC2164
# packages.sh - parts "packages" and "image" of scripts/test --deep.  Sourced by scripts/deep.sh.
# packages: debian/ is built by dpkg-buildpackage, read by lintian, installed in a bare chroot and used there.
# image: the steps of server/Dockerfile in chroots, in the place of a container engine; the daemon that comes of them is started.
# Knows how to make a chroot and what must run in it; knows nothing of what the packages hold.
chroots=$out/chroot

needs_chroot() { want mmdebstrap have mmdebstrap; }
needs_debian() {
    needs_chroot
    want debhelper have dh
    want dh-php have dh_php
    want dh-python have dh_python3
    want fakeroot have fakeroot
    want lintian have lintian
    want pybuild-plugin-pyproject perl -e 'exit !-e "/usr/share/perl5/Debian/Debhelper/Buildsystem/pybuild.pm"'
    want python3-all-dev dpkg -s python3-all-dev
    want python3-build /usr/bin/python3 -c 'import build'
    want python3-setuptools /usr/bin/python3 -c 'import setuptools'
    want python3-wheel /usr/bin/python3 -c 'import wheel'
    want php-dev have phpize
}
debian_release() { (. /etc/os-release && echo "$VERSION_CODENAME"); }
# chroot_of RELEASE FOLDER PACKAGE...: a Debian with nothing but what is named.
chroot_of() {
    local release=$1 folder=$2 IFS=,
    shift 2
    as_root rm -rf "$folder"
    mkdir -p "$chroots"
    as_root mmdebstrap --variant=minbase --skip=cleanup/tmp "${chroot_options[@]}" ${1:+--include="$*"} "$release" "$folder"
}
chroot_options=()
bare_chroot() { chroot_of "$(debian_release)" "$@"; }
# copy_tree FOLDER: the files that are in git or could be.
copy_tree() (
    cd "$root"
    git ls-files -co --exclude-standard -z | xargs -0 sh -c 'for name; do [ ! -f "$name" ] || cp --parents "$name" "$0"; done' "$1"
)
inside() {
    local folder=$1
    shift
    as_root chroot "$folder" /usr/bin/env -i PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive "$@"
}

# inside, with /proc, which tests read: mounted for these processes alone.
inside_with_proc() {
    local folder=$1
    shift
    # shellcheck disable=SC2016
    as_root unshare --mount sh -ec 'mount -t proc proc "$0/proc"; exec chroot "$0" /usr/bin/env -i "$@"' "$folder" \
        PATH=/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin HOME=/root ${CI:+CI="$CI"} "$@"
}
# python_inside FOLDER PYTHON: $out/inside is a folder bin/python for run_pytest: Python and the tests in the chroot.
python_inside() {
    mkdir -p "$out/inside/bin"
    declare -f as_root inside_with_proc >"$out/inside/inside.sh"
    printf '#!/bin/bash\n. %q\ninside_with_proc %q sh -ec %q sh "$@"\n' "$out/inside/inside.sh" "$1" "cd /bloomfilter; exec $2 \"\$@\"" >"$out/inside/bin/python"
    chmod +x "$out/inside/bin/python"
}

# ---- packages ----
build_debian() (
    rm -rf "$out/deb"
    mkdir -p "$out/deb/bloomfilter"
    copy_tree "$out/deb/bloomfilter"
    cd "$out/deb/bloomfilter"
    PATH=/usr/sbin:/usr/bin:/sbin:/bin DEB_BUILD_OPTIONS=parallel=$jobs dpkg-buildpackage -b -us -uc
)
# Errors fail; warnings stand in the log.
read_debian() { (cd "$out/deb" && lintian --allow-root --fail-on error -- *.changes); }
install_debian() {
    local folder=$chroots/packages
    bare_chroot "$folder" ca-certificates
    as_root cp "$out"/deb/*.deb "$folder/tmp"
    as_root rm "$folder"/tmp/*-dbgsym_*.deb
    inside "$folder" sh -ec 'apt-get update; apt-get install -y --no-install-recommends /tmp/*.deb php-cli gcc libc6-dev pkg-config'
}
use_debian() {
    local folder=$chroots/packages version
    version=$("$python" "$root/scripts/versions.py" current)
    inside "$folder" sh -ec 'php -m | grep -x bloomfilter
        test "$(bloomfilterd --version)" = "bloomfilterd $0"
        test "$(pkg-config --modversion bloomfilter)" = "${0%-rc*}"
        cc /usr/share/doc/libbloomfilter-dev/examples/embed.c -o /tmp/embed $(pkg-config --cflags --libs bloomfilter)
        cd /tmp && ./embed /tmp/seen.bloom
        php -r "exit((int)BloomFilter::open(\"/tmp/seen.bloom\")->add(\"https://example.org/\"));"
        python3 -c "import bloomfilter; assert \"https://example.org/\" in bloomfilter.BloomFilter.open(\"/tmp/seen.bloom\")"
        bloomfilter info /tmp/seen.bloom
        man=/usr/share/man; test -s $man/man1/bloomfilter.1.gz -o ! -d $man/man1; test -s /etc/php/*/mods-available/bloomfilter.ini' "$version"
    grep -h '^ExecStart=/usr/bin/bloomfilterd ' "$folder"/lib/systemd/system/bloomfilterd.service
}
deep_packages() {
    provide needs_c needs_server needs_python needs_debian
    step 'Debian packages' deb-build build_debian
    run_noted 'lintian: no error' deb-lintian read_debian
    sed -n 's/^[EW]: /    &/p' "$logs/deb-lintian"
    step 'a bare chroot with the packages' deb-install install_debian
    run_noted 'PHP, Python, C and the daemon by the packages' deb-use use_debian
}

# ---- the image ----
# image_stage STAGE FOLDER: RUN and COPY of one stage of the Dockerfile; what else it says is not about files.
image_stage() {
    local stage='' line words from=$root
    while IFS= read -r line; do
        read -ra words <<<"$line"
        [ "${words[0]:-}" != FROM ] || stage=${words[3]:-last}
        [ "$stage" = "$1" ] || continue
        case ${words[0]:-} in
            RUN) inside "$2" sh -ec "${line#RUN }" ;;
            COPY)
                from=$root
                if [[ ${words[1]} == --from=* ]]; then from=$chroots/image-${words[1]#--from=} words=(COPY "${words[@]:2}"); fi
                image_copy "$from" "$2${words[-1]}" "${words[@]:1:${#words[@]}-2}"
                ;;
        esac
    done < <(sed -e '/^#/d' -e ':a' -e '/\\$/N; s/\\\n//; ta' "$root/server/Dockerfile")
}
# image_copy FROM TARGET NAME...: a folder's contents go into the target, files below it.
image_copy() {
    local from=$1 target=$2 name
    shift 2
    as_root mkdir -p "$target"
    for name in "$@"; do
        if [ -d "$from/$name" ]; then as_root cp -R "$from/$name/." "$target"; else as_root cp "$from/$name" "$target"; fi
    done
}
build_image() {
    bare_chroot "$chroots/image-$1"
    image_stage "$1" "$chroots/image-$1"
}
# As the image's user, by its ENTRYPOINT and CMD, asked by its HEALTHCHECK; only the port is another.
start_image() {
    local folder=$chroots/image-last port pid code=0 words
    port=$("$python" -c 'import socket; s = socket.socket(); s.bind(("127.0.0.1", 0)); print(s.getsockname()[1])')
    read -ra words < <(sed -n 's/^\(ENTRYPOINT\|CMD\) \[\(.*\)\]/\2/p' "$root/server/Dockerfile" | tr -d '",' | tr '\n' ' '; echo)
    words=(chroot --userspec=bloomfilter:bloomfilter "$folder" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin "${words[@]}" --port "$port")
    [ "$(id -u)" = 0 ] || words=(sudo "${words[@]}")
    (exec "${words[@]}") &      # not by a function: the signal is for the daemon, not for a shell around it
    pid=$!
    inside "$folder" curl -fsS --retry 50 --retry-connrefused --retry-delay 1 --max-time 60 "http://127.0.0.1:$port/healthz" || code=1
    inside "$folder" curl -fsS "http://127.0.0.1:$port/add=key" || code=1
    [ "$(inside "$folder" curl -fsS "http://127.0.0.1:$port/contain=key")" = true ] || code=1
    kill "$pid"
    wait "$pid" || code=1
    return $code
}
deep_image() {
    provide needs_debian
    step 'the image, stage build' image-build build_image build
    step 'the image' image-last build_image last
    run_noted 'bloomfilterd starts in the image' image-start start_image
}
