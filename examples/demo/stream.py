"""stream.py WORDS FOLDER - makes FOLDER/stream.txt, 3 lines for each word of a real list: the word,
the word again in another order, and a URL made of it.  The URL comes between the two, so that
repeats lie far apart and near."""

import random
import sys
from pathlib import Path

words_file, folder = Path(sys.argv[1]), Path(sys.argv[2])
words = words_file.read_text(encoding="utf-8").splitlines()
shuffled = random.Random(1).sample(words, len(words))
urls = [f"https://www.example.org/wiki/{word}?id={i}" for i, word in enumerate(words)]
folder.mkdir(parents=True, exist_ok=True)
(folder / "words.txt").write_text("".join(f"{word}\n" for word in words), encoding="utf-8")
lines = words + [line for pair in zip(urls, shuffled) for line in pair]
(folder / "stream.txt").write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
