"""hooks.py - what mkdocs.yml needs beside plugins: links that leave docs/, pages that nav
forgot, titles of their own, lists and tables right after a line of text, and bars in the code of a
table, which GitHub takes for what they are and Python-Markdown does not; tabs for one program in
PHP and in Python.

A document links to a file of the repository as it does in the repository, by a relative path.  In
the site that file is a copy below source/; a link to a folder, which a site cannot show, becomes
its text.  Knows nothing of what a page says."""

import posixpath
import re
from textwrap import indent
from pathlib import Path

from mkdocs.structure.files import File

ROOT = Path(__file__).resolve().parent.parent
LINK = re.compile(r"\[([^\]]*)\]\(([^)#:\s]+)(#[^)\s]*)?\)")
OUTSIDE = "source/"
BLOCK = r"```%s\n(?:(?!```).*\n)*```\n"
PROGRAM = f"({BLOCK}(?:\\n{BLOCK % 'text'})?)"  # with what it printed
PAIRS = [
    re.compile(f"^{PROGRAM % a}\n{PROGRAM % b}", re.M)
    for a, b in (("php", "python"), ("python", "php"))
]
CHINESE = re.compile(
    r"(?<=[\u3001-\u9fff\uff01-\uff60])\n(?=[\u3001-\u9fff\uff01-\uff60])"
)  # no space


def in_repository(uri):
    """The repository's path of a page of the site."""
    return uri[len(OUTSIDE) :] if uri.startswith(OUTSIDE) else "docs/" + uri


def in_site(path):
    return path[len("docs/") :] if path.startswith("docs/") else OUTSIDE + path


def target(uri, link):
    return posixpath.normpath(posixpath.join(posixpath.dirname(in_repository(uri)), link))


def on_config(config):
    """Pages without a place in nav get one: whoever adds a page sees it at once."""

    def named(item):
        if isinstance(item, str):
            return {item}
        return set().union(
            *(named(part) for part in (item.values() if isinstance(item, dict) else item))
        )

    docs = ROOT / "docs"
    pages = {str(path.relative_to(docs)) for path in docs.rglob("*.md")}
    rest = sorted(pages - named(config["nav"]))
    if rest:
        config["nav"].append({"More": rest})
    return config


def on_files(files, config):
    """Copies of what the documents link to outside docs/, and of what those link to."""
    pages = [file.src_uri for file in files.documentation_pages()]
    while pages:
        uri = pages.pop()
        text = (ROOT / in_repository(uri)).read_text(encoding="utf-8")
        for link in LINK.finditer(text):
            path = target(uri, link[2])
            if (
                path.startswith("docs/")
                or not (ROOT / path).is_file()
                or files.get_file_from_path(in_site(path))
            ):
                continue
            files.append(File.generated(config, in_site(path), abs_src_path=str(ROOT / path)))
            if path.endswith(".md"):
                pages.append(in_site(path))
    return files


def bars(line):
    """GitHub wants a backslash before a bar in the code of a table, Python-Markdown shows it."""
    return re.sub(r"`[^`]*`", lambda code: code[0].replace(r"\|", "|"), line)


def with_gaps(markdown):
    """An empty line before a list or a table that follows a line of text."""
    out, fenced, before = [], False, ""
    for line in markdown.splitlines():
        start = re.match(r"- |\d+\. |\|", line)
        if (
            start
            and not fenced
            and re.match(r"[^\s|]", before)
            and not re.match(r"- |\d+\. ", before)
        ):
            out.append("")
        fenced ^= line.startswith("```")
        out.append(bars(line) if line.startswith("|") and not fenced else line)
        before = line
    return "\n".join(out)


def tabs(markdown):
    """PHP and Python right after each other are tabs."""

    def pair(found):
        titles = ("PHP" if code.startswith("```php") else "Python" for code in found.groups())
        both = zip(titles, found.groups(), strict=True)
        return "\n".join(f'=== "{title}"\n\n{indent(code, "    ")}' for title, code in both)

    for pattern in PAIRS:
        markdown = pattern.sub(pair, markdown)
    return markdown


def on_page_markdown(markdown, page, config, **_):
    heading = re.search(r"^# (.+)", markdown, re.M)
    if heading and heading[1] != config.site_name:  # for the tab: nav has "PHP" twice
        page.meta.setdefault("title", heading[1])

    def in_site_link(link):
        path = target(page.file.src_uri, link[2])
        if (ROOT / path).is_dir():
            return link[1]
        to = posixpath.relpath(in_site(path), posixpath.dirname(page.file.src_uri) or ".")
        return f"[{link[1]}]({to}{link[3] or ''})"

    return tabs(LINK.sub(in_site_link, CHINESE.sub("", with_gaps(markdown)) + "\n"))


def on_post_page(output, page, config):
    """Pages in Chinese say so.  Pygments does not know PHP's 1_000_000: one number, one colour."""
    if page.file.src_uri.startswith("zh/") or ".zh-CN." in page.file.src_uri:
        output = output.replace('<html lang="en"', '<html lang="zh-CN"', 1)
    number = r'<span class="(m[if])">(\d+)</span><span class="\w+">((?:_\d+)+)</span>'
    return re.sub(number, r'<span class="\1">\2\3</span>', output)
