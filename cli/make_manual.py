#!/usr/bin/env python3
"""Makes the pages of the manual and the completions of bash, zsh and fish from what the commands say with --help.

Usage: make_manual.py BELAY FOLDER

BELAY is the command; npu-smi lies beside it. FOLDER becomes the "share" of an installation.
"""

import os
import re
import subprocess
import sys

NPU_SMI = ("npu-smi",)


def help_of(folder, words):
    environment = {name: value for name, value in os.environ.items() if not name.startswith("BELAY_")}
    done = subprocess.run([os.path.join(folder, words[0]), *words[1:], "--help"], check=True, text=True,
                          stdout=subprocess.PIPE, env=dict(environment, NO_COLOR="1", LC_ALL="C"))
    return done.stdout.strip("\n").split("\n")


class Command:
    """What a help page says: its lines, the commands and options that it lists, each with its first words."""

    def __init__(self, words, lines):
        self.words, self.lines = words, lines
        self.commands, self.options, section = {}, [], ""
        for line in lines:
            if re.match(r"\S.*:$", line):
                section = line
            item = re.match(r"  (\S+)(?: [A-Z]\S*)?(?: Excludes: \S+)*(?: {2,}(.*))?$", line)
            if not item:
                continue
            if item[1].startswith("-"):
                self.options.append((re.split(",", item[1]), item[2] or ""))
            elif words != NPU_SMI and re.match(r"(Subc|C)ommands( that belay itself uses)?:$", section):
                self.commands[item[1]] = item[2] or ""
        if words == NPU_SMI:
            self.commands = {"info": "devices and processes"}

    def about(self):
        """One line for the name section and for lists."""
        if self.words == NPU_SMI:
            return "show the Ascend devices that belay emulates"
        return self.lines[0].rstrip(".")


def all_commands(folder):
    found, waiting = [], [("belay",), NPU_SMI]
    while waiting:
        words = waiting.pop(0)
        command = Command(words, help_of(folder, words))
        found.append(command)
        if words != NPU_SMI:
            waiting += [words + (each,) for each in command.commands]
    return found


def page(command, version):
    """The text as it is printed: people know its form, and nothing is lost or said twice."""
    name = "-".join(command.words)
    lines = ['.TH "%s" 1 "" "belay %s" "User commands"' % (name.upper(), version), ".SH NAME",
             r"%s \- %s" % (name.replace("-", r"\-"), roff(command.about())), ".SH DESCRIPTION", ".nf", ".ad l", ".nh"]
    lines += [roff(line) for line in command.lines]
    lines += [".fi", ".SH SEE ALSO", roff("belay(1), npu-smi(1), 'belay rule', 'belay products'"), ""]
    return "\n".join(lines)


def roff(line):
    line = line.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq").replace("`", "\\(ga")
    line = line.replace("^", "\\(ha").replace("~", "\\(ti")
    return "\\&" + line if line.startswith((".", "\\(aq")) else line


def choices(command):
    return list(command.commands) + [spelling for spellings, _ in command.options for spelling in spellings]


def npu_smi_words(command):
    types = next(line.split(None, 2)[2] for line in command.lines if line.startswith("  -t TYPE"))
    letters = [spelling for spellings, _ in command.options for spelling in spellings]
    of_info = [each for each in letters if each in ("-t", "-i", "-c", "-d", "-s")]
    return types.replace(",", ""), ["-l", "-m", "watch", *of_info]


def shell_table(commands, quote):
    """Branches of a `case` over the words so far, for bash and zsh."""
    return "\n".join("    (%s) choices=%s ;;" % (quote(" ".join(each.words)), quote(" ".join(choices(each))))
                     for each in commands if each.words != NPU_SMI)


def quoted(text):
    return "'%s'" % text.replace("'", "'\\''")


WALK = """\
    local so_far=belay each choices= types=%(types)s
    [[ %(first)s == *npu-smi ]] && so_far=npu-smi
    for each in %(before)s; do
        case $each in
        (--) so_far=; break ;;  # what follows is a program's
        esac
        case "$so_far $each" in
        (%(paths)s) so_far="$so_far $each" ;;
        esac
    done
    case $so_far in
%(table)s
    (npu-smi) choices='info -h --help -v' ;;
    ('npu-smi info') choices=%(info)s ;;
    esac
    [[ $so_far == 'npu-smi info' && %(previous)s == -t ]] && choices=$types
"""


def fill(commands, **names):
    npu = next(each for each in commands if each.words == NPU_SMI)
    types, info = npu_smi_words(npu)
    paths = [quoted(" ".join(each.words)) for each in commands if len(each.words) > 1] + ["'npu-smi info'"]
    return WALK % dict(names, types=quoted(types), info=quoted(" ".join(info)), paths=" | ".join(paths),
                       table=shell_table(commands, quoted))


def bash(commands):
    walk = fill(commands, first="${COMP_WORDS[0]}", before='"${COMP_WORDS[@]:1:COMP_CWORD-1}"',
                previous='"${COMP_WORDS[COMP_CWORD-1]}"')
    return ("# Completion of belay and npu-smi for bash.\n_belay() {\n" + walk +
            '    COMPREPLY=($(compgen -W "$choices" -- "${COMP_WORDS[COMP_CWORD]}"))\n}\n'
            "complete -o default -F _belay belay npu-smi\n")


def zsh(commands):
    walk = fill(commands, first="$words[1]", before='"${(@)words[2,CURRENT-1]}"', previous='"$words[CURRENT-1]"')
    return ("#compdef belay npu-smi\n# Completion of belay and npu-smi for zsh.\n_belay() {\n" + walk +
            "    compadd -- ${=choices}\n    _files\n}\n_belay \"$@\"\n")


def fish(commands):
    lines = ["# Completion of belay and npu-smi for fish."]
    for command in commands:
        if command.words == NPU_SMI:
            continue
        seen = ["__fish_seen_subcommand_from %s" % word for word in command.words[1:]]
        inner = " ".join(command.commands)
        here = seen + (["not __fish_seen_subcommand_from %s" % inner] if inner else [])
        where = "-n %s" % quoted("; and ".join(here)) if here else ""
        for name, about in command.commands.items():
            lines.append("complete -c belay %s -f -a %s -d %s" % (where, name, quoted(about)))
        for spellings, about in command.options:
            names = " ".join("-l " + each[2:] if each.startswith("--") else "-s " + each[1:] for each in spellings)
            lines.append("complete -c belay %s %s -d %s" % (where, names, quoted(about)))
    npu = next(each for each in commands if each.words == NPU_SMI)
    types, info = npu_smi_words(npu)
    lines.append("complete -c npu-smi -f -n 'not __fish_seen_subcommand_from info' -a 'info -v --help'")
    within = "__fish_seen_subcommand_from info"
    lines.append("complete -c npu-smi -f -n '%s; and not string match -q -- -t (commandline -opc)[-1]' -a %s"
                 % (within, quoted(" ".join(info))))
    lines.append("complete -c npu-smi -f -n '%s; and string match -q -- -t (commandline -opc)[-1]' -a %s"
                 % (within, quoted(types)))
    return "\n".join(re.sub(" +", " ", line) for line in lines) + "\n"


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    folder, share = os.path.dirname(os.path.abspath(sys.argv[1])), sys.argv[2]
    commands = all_commands(folder)
    version = subprocess.run([sys.argv[1], "--version"], check=True, text=True, stdout=subprocess.PIPE).stdout.split()[1]
    for command in commands:
        write("%s/man/man1/%s.1" % (share, "-".join(command.words)), page(command, version.rstrip(",")))
    write(share + "/bash-completion/completions/belay", bash(commands))
    write(share + "/bash-completion/completions/npu-smi", bash(commands))  # bash looks for a file of the command's name
    write(share + "/zsh/site-functions/_belay", zsh(commands))
    write(share + "/fish/vendor_completions.d/belay.fish", fish(commands))
    write(share + "/fish/vendor_completions.d/npu-smi.fish", fish(commands))


if __name__ == "__main__":
    main()
