"""Indents the C sources with pg_bsd_indent, as PostgreSQL's own are, with our
typedef lists.

    indent.py              rewrites
    indent.py --check      reports what it would rewrite, exits 1 if anything
    indent.py --typedefs   regenerates the lists from the sources

The core half has a list of its own, so that no name of the server's is taken for
a type there.  As PostgreSQL's pgindent does, text that the program cannot
parse is hidden from it, by other text of the same length.
"""

import difflib
import os
import re
import subprocess
import sys
import tempfile

TOP = os.path.dirname(os.path.dirname(os.path.dirname(
    os.path.abspath(__file__))))
os.chdir(TOP)
CORE_LIST = "test/lint/lakefdw.typedefs"
SERVER_LIST = "test/lint/server.typedefs"
SERVER_HALF = ("src/server/", "src/fdw/", "src/functions/")
BUILT_IN = ("bool size_t ssize_t va_list uintptr_t sigjmp_buf int8_t int16_t"
            " int32_t int64_t uint8_t uint16_t uint32_t uint64_t __m128i"
            " __m256i json_tokener json_object DIR EVP_MD_CTX unsigned___int128").split()
SERVER = set("Datum Oid Size int8 int16 int32 int64 uint8 uint16 uint32"
             " uint64 bytea dsm_segment shm_toc slock_t".split())
# pgindent's own
FLAGS = ("-bad -bap -bbb -bc -bl -cli1 -cp33 -cdb -nce -d0 -di12 -nfc1 -i4"
         " -l79 -lp -lpl -nip -npro -sac -tpg -ts4").split()


def sources():
    out = subprocess.run(
        ("git", "ls-files", "-co", "--exclude-standard", "--", "src/*.[ch]",
         "test/*.[ch]"), capture_output=True, text=True, check=True).stdout
    return [path for path in out.split() if os.path.exists(path)]


def write_typedefs():
    out = subprocess.run(["ctags", "-x", "--c-kinds=t"] + sources(),
                         capture_output=True, text=True, check=True).stdout
    names = {line.split()[0] for line in out.split("\n") if line}
    names = names.union(BUILT_IN)
    foreign = set()
    for path in sources():
        with open(path, encoding="utf-8") as file:
            text = re.sub(r"/\*.*?\*/|\"[^\"\n]*\"", "", file.read(), flags=re.S)
        foreign.update(re.findall(
            r"\b([A-Z]\w*[a-z]\w*|DIR|[a-z]\w*_t)\b \*+\w", text))
        foreign.update(re.findall(r"^\t([A-Z]\w*[a-z]\w*|[a-z]\w*_t)\t+\w",
                                  text, flags=re.M))
    for path, listed in ((CORE_LIST, names),
                         (SERVER_LIST, SERVER.union(foreign - names))):
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(sorted(listed)) + "\n")


def closing(text, start):
    """The index of the brace that closes the one at start."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"{": 1, "}": -1}.get(text[i], 0)
        if depth == 0:
            return i
    return len(text) - 1


def hide_literals(text):
    """Compound literals become calls, their designators names."""
    done = []
    while True:
        match = re.search(r"\((const )?(\w+)(\[\])?\)( ?)\{(?=[^\n])", text)
        if not match:
            return "".join(done) + text
        end = closing(text, match.end() - 1)
        head = match[0]
        done.append(text[:match.start()])
        done.append("QZ" + "q" * (len(head) - 3) + "(")
        body = re.sub(r"\.(?=[a-z]\w* = )", "Q", text[match.end():end])
        LITERALS.append((head, len(head)))
        text = body + ")" + text[end + 1:]


LITERALS = []


def hide(text):
    LITERALS.clear()
    text = text.replace("unsigned __int128", "unsigned___int128")
    numbers = re.findall(r"\b0x[0-9a-fA-F.]+p[+-]?\d+f?", text)
    for number in numbers:
        text = text.replace(number, "QN" + "n" * (len(number) - 2), 1)
    return hide_literals(text), numbers


def show(text, numbers):
    for number in numbers:
        text = text.replace("QN" + "n" * (len(number) - 2), number, 1)
    for head, length in LITERALS:
        start = text.index("QZ" + "q" * (length - 3) + "(")
        depth, end = 0, start
        for end in range(start + length - 1, len(text)):
            depth += {"(": 1, ")": -1}.get(text[end], 0)
            if depth == 0:
                break
        body = re.sub(r"\bQ(?=[a-z]\w* = )", ".",
                      text[start + length:end])
        text = text[:start] + head + body + "}" + text[end + 1:]
    text = text.replace("unsigned___int128", "unsigned __int128")
    text = re.sub(r",\.(?=[a-z]\w* = )", ", .", text)
    # a single space before * in function return types
    text = re.sub(r"^([A-Za-z_][\w ]*\w)[ \t]+\*$", r"\1 *", text, flags=re.M)
    return continue_initializers(text)


def continue_initializers(text):
    """The second line of a declaration's initializer gets a tab more, as newer
    versions of the program give it."""
    lines = text.split("\n")
    out = lines[:1]
    depth = 0
    declaration = re.compile(
        r"\t+(const |static )*(struct |unsigned )?\w+[ \t]+\**\w+(\[\w*\])?\s*=")
    chained = False
    for before, line in zip(lines, lines[1:]):
        code = re.sub(r"\"(\\\\.|[^\"])*\"|'(\\\\.|[^'])*'|/\*.*?\*/", "", before)
        depth += code.count("(") - code.count(")")
        if re.search(r"[;{}]$|^\s*(case .*|default):$|^$", code):
            depth = 0
        left = len(before) - len(before.lstrip("\t"))
        chained = (chained or declaration.match(before)) and \
            left > 0 and depth == 0 and \
                left == len(line) - len(line.lstrip("\t")) and \
                re.search(r"( =| [-+*/|&?:<>]|[=|&<>]=|\|\||&&)$", code) and \
            not re.match(r"\s*(#|\{)", line)
        if chained:
            line = "\t" + line
        out.append(line)
    return "\n".join(out)


def indented(path, text, server_list):
    hidden, numbers = hide(text)
    types = server_list if path.startswith(SERVER_HALF) else CORE_LIST
    run = subprocess.run(["pg_bsd_indent"] + FLAGS + ["-U" + types],
                         input=hidden, capture_output=True, text=True)
    # what the program cannot parse stays as it is
    if "/**INDENT**" in run.stdout:
        return text
    # the exit status is no news, the messages are
    if run.stderr:
        sys.exit("%s: %s" % (path, run.stderr))
    return show(run.stdout, numbers)


def main():
    if sys.argv[1:] == ["--typedefs"]:
        write_typedefs()
        return
    check = sys.argv[1:] == ["--check"]
    findings = 0
    with tempfile.NamedTemporaryFile("w", suffix=".typedefs") as both:
        for path in (CORE_LIST, SERVER_LIST):
            with open(path, encoding="utf-8") as file:
                both.write(file.read())
        both.flush()
        for path in sources():
            with open(path, encoding="utf-8") as file:
                text = file.read()
            better = indented(path, text, both.name)
            if better == text:
                continue
            findings += 1
            if check:
                print("%s: not indented" % path)
                difference = list(difflib.unified_diff(
                    text.split("\n"), better.split("\n"), lineterm="", n=0))
                print("\n".join(difference[2:10]))
            else:
                with open(path, "w", encoding="utf-8") as file:
                    file.write(better)
    if check and findings:
        sys.exit(1)


if __name__ == "__main__":
    main()
