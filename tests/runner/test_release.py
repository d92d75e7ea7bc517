"""scripts/release in a copy, and what else a release is made by: the workflow, the recipes of conda and
Homebrew.  Builds nothing; tests/package builds what users get."""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[2]
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


# In a hook of git these name the repository that is committed to, whatever cwd is.
ENVIRONMENT = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}


def run(*command, cwd=ROOT, code=0):
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=ENVIRONMENT,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
    )
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout + done.stderr


@pytest.fixture(scope="module")
def clone(tmp_path_factory):
    """The tree as it is, committed, with what it takes to commit once more: a change since the last
    release among it."""
    folder = tmp_path_factory.mktemp("release") / "bloomfilter"
    built = shutil.ignore_patterns("out", ".git", ".hypothesis", "__pycache__")
    shutil.copytree(ROOT, folder, ignore=built)  # git leaves out what .gitignore names
    changelog = folder / "CHANGELOG.md"
    begun = "## [Unreleased]\n\n### Fixed\n\n- A fault.\n"
    changelog.write_text(changelog.read_text().replace("## [Unreleased]\n", begun))
    run("git", "init", "-q", cwd=folder)
    for setting in ("user.name", "user.email"):
        run("git", "config", setting, "release@localhost", cwd=folder)
    run("git", "add", "-A", cwd=folder)
    run("git", "commit", "-qm", "the tree as it is", cwd=folder)
    return folder


def versions(folder, *arguments, code=0):
    return run("python3", folder / "scripts" / "versions.py", *arguments, code=code).strip()


def test_a_dry_run_says_what_there_would_be_and_changes_nothing(clone):
    before = run("git", "status", "--porcelain", cwd=clone)
    said = run(clone / "scripts" / "release", "--dry-run", "9.8.6-rc6")
    assert {"bloomfilter-9.8.6-rc6.tar.gz", "bloomfilter-9.8.6-rc6.cdx.json"} <= set(said.split())
    assert run("git", "status", "--porcelain", cwd=clone) == before


def test_a_tree_with_changes_is_refused(clone):
    (clone / "new").touch()
    assert "not clean" in run(clone / "scripts" / "release", "9.8.6", code=1)
    (clone / "new").unlink()


def test_a_release_without_a_change_is_refused(clone):
    """pear refuses a package without notes, much later."""
    changelog = clone / "CHANGELOG.md"
    text = changelog.read_text()
    head, _, rest = text.partition("## [Unreleased]\n")
    changelog.write_text(head + "## [Unreleased]\n\n## [" + rest.split("\n## [", 1)[1])
    said = versions(clone, "set", "9.8.6", "2026-01-01", code=1)
    assert "CHANGELOG.md has no entry below [Unreleased]" in said
    changelog.write_text(text)
    assert run("git", "status", "--porcelain", cwd=clone) == ""


@pytest.mark.parametrize(
    "version", ["9.8", "9.8.7rc6", "9.8.7-beta", "v9.8.7", "0.0.1", "09.8.7", "9.8.\u0667"]
)
def test_a_version_that_is_none_or_not_newer_is_refused(clone, version):
    assert version in run(clone / "scripts" / "release", version, code=1)
    assert run("git", "status", "--porcelain", cwd=clone) == ""


def test_a_release_that_fails_leaves_the_tree_as_it_was(clone):
    """A file names the version that was; then the tag is an older commit."""
    named = clone / "docs" / "named.txt"
    named.write_text(f"since {versions(clone, 'current')}\n")
    run("git", "add", named, cwd=clone)
    run("git", "commit", "-qm", "names it", cwd=clone)
    said = run(clone / "scripts" / "release", "9.8.6", code=1)
    assert "docs/named.txt:1 still names" in said
    assert run("git", "status", "--porcelain", cwd=clone) == ""
    run("git", "tag", "9.8.6", "HEAD^", cwd=clone)
    run("git", "tag", versions(clone, "current"), "HEAD^", cwd=clone)
    for version in ("9.8.6", versions(clone, "current")):
        said = run(clone / "scripts" / "release", version, code=1)
        assert f"the tag {version} is another commit" in said
    run("git", "tag", "-d", "9.8.6", versions(clone, "current"), cwd=clone)
    run("git", "rm", "-q", named, cwd=clone)
    run("git", "commit", "-qm", "does not", cwd=clone)


def test_no_page_stops_the_next_release_by_naming_a_version_that_was_built(clone):
    """docs/tested.md says which version of what was tested."""
    named = set(re.findall(r"\d\.\d\.\d-rc\d+", (clone / "docs" / "tested.md").read_text()))
    for version in named - {versions(clone, "current")}:
        versions(clone, "check", version)


def test_a_release(clone):
    """Each ecosystem's form of the version; the notes; an archive that has the commit."""
    notes = (clone / "CHANGELOG.md").read_text().split("## ")[1].split("\n", 1)[1]
    env = ["env", "RELEASE_BUILDS=no", "RELEASE_URL=https://a.org/r"]
    run(*env, clone / "scripts" / "release", "9.8.7-rc6")
    texts = {
        "core/bloomfilter.h": '"9.8.7-rc6"',
        "php-ext/php_bloomfilter.h": '"9.8.7RC6"',
        "package.xml": "<release>9.8.7RC6</release>",
        "docs/man/bloomfilter.1": "bloomfilter 9.8.7rc6",
        "docs/api-c.md": '"9.8.7-rc6"',
        "debian/changelog": "bloomfilter (9.8.7~rc6-1)",
        "CHANGELOG.md": "## [Unreleased]\n\n## [9.8.7-rc6] - ",
    }
    for name, text in texts.items():
        assert text in (clone / name).read_text(), name
    assert notes.strip() in (clone / "CHANGELOG.md").read_text().split("## [9.8.7-rc6]")[1]
    assert "<release>beta</release>" in (clone / "package.xml").read_text()
    assert run("git", "log", "-1", "--format=%s", cwd=clone) == "Version 9.8.7-rc6\n"
    made = clone / "out" / "release"
    archive = made / "bloomfilter-9.8.7-rc6.tar.gz"
    digest = hashlib.sha256(archive.read_bytes()).hexdigest()
    with tarfile.open(archive) as tar:
        archived = {name.partition("/")[2] for name in tar.getnames()}
    assert set(run("git", "ls-files", cwd=clone).splitlines()) <= archived
    for recipe in ("meta.yaml", "bloomfilter.rb"):
        text = (made / recipe).read_text()
        assert digest in text and "https://a.org/r/bloomfilter-" in text and "9.8.7-rc6" in text
    bom = json.loads((made / "bloomfilter-9.8.7-rc6.cdx.json").read_text())
    assert (bom["bomFormat"], bom["metadata"]["component"]["version"]) == ("CycloneDX", "9.8.7-rc6")
    # No files: the workflow removes some and adds those of other machines.  SHA256SUMS has them.
    assert {one["type"] for one in bom["components"]} == {"library"}
    assert {"xxHash", "libsodium", "OpenSSL"} <= {one["name"] for one in bom["components"]}
    run("sha256sum", "-c", "SHA256SUMS", cwd=made)
    # Once more, as the workflow does on the tag: the same bytes.
    run(*env, clone / "scripts" / "release", "9.8.7-rc6")
    assert hashlib.sha256(archive.read_bytes()).hexdigest() == digest


def test_the_forms_of_a_version():
    forms = ("python", "php", "debian", "cmake")
    assert [versions(ROOT, "form", form, "1.2.3-rc4") for form in forms] == [
        "1.2.3rc4", "1.2.3RC4", "1.2.3~rc4", "1.2.3",
    ]  # fmt: skip
    assert {versions(ROOT, "form", form, "1.2.3") for form in forms} == {"1.2.3"}


def test_a_place_that_nobody_listed_is_found(clone):
    (clone / "docs" / "forgotten.md").write_text("This is version 9.8.5RC4.\n")
    run("git", "add", "docs/forgotten.md", cwd=clone)
    assert "docs/forgotten.md:1" in versions(clone, "check", "9.8.5-rc4", code=1)
    run("git", "rm", "-qf", "docs/forgotten.md", cwd=clone)


# ---- workflows ----
@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_a_workflow_is_sound(path):
    """YAML; each job runs after jobs that exist, on known actions; each file that it names exists, and
    each part of scripts/test."""
    text = path.read_text()
    workflow = yaml.safe_load(text)
    jobs = workflow["jobs"]
    assert workflow["permissions"] == {"contents": "read"}
    for name, job in jobs.items():
        needs = job.get("needs", [])
        assert set([needs] if isinstance(needs, str) else needs) <= set(jobs), name
        assert all(("run" in step) != ("uses" in step) for step in job["steps"]), name
        for step in job["steps"]:
            assert re.fullmatch(r"[\w-]+/[\w./-]+@[\w./]+", step.get("uses", "a/b@c")), step
    named = re.findall(r"(?<![\w./$-])((?:scripts|server|tests|\.ci)/[\w./-]+\w)", text)
    assert named and all((ROOT / name).exists() for name in named), named
    programs = re.findall(r"(?m)^ +(?:- )?run: ((?:\.ci|scripts)/\w+)", text)
    assert all(os.access(ROOT / name, os.X_OK) for name in programs), programs
    parts = re.findall(r"(?m)^    ([a-z]+)\) ", (ROOT / "scripts" / "test").read_text())
    assert set(re.findall(r"scripts/test ([a-z]+)", text)) <= set(parts)


def test_the_release_workflow_makes_what_is_promised():
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "release.yml").read_text())["jobs"]
    assert {"source", "wheels", "php", "debian", "site", "files", "pypi", "image", "pages"} == set(
        jobs
    )
    published = {"files", "pypi", "image"}
    assert {name for name, job in jobs.items() if job.get("environment") == "release"} == published
    php = json.loads((ROOT / "composer.json").read_text())
    assert php["php-ext"]["download-url-method"] == ["pre-packaged-binary", "composer-default"]
    assert [one.split("-")[0] for one in jobs["php"]["strategy"]["matrix"]["image"]] == [
        "cli",
        "zts",
    ]


# ---- recipes ----
def test_the_conda_recipe_is_yaml():
    text = (ROOT / "packaging" / "conda" / "meta.yaml").read_text()
    text = re.sub(r"(?m)^\{%.*%\}$", "", text)
    recipe = yaml.safe_load(re.sub(r"\{\{.*?\}\}", "x", text))
    assert recipe["package"]["name"] == "bloomfilter-shared"
    assert {"build", "host", "run"} == set(recipe["requirements"])
