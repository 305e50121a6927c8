#!/usr/bin/env python3
"""Write a manual page to standard output.

Usage: generate-man-page.py command SECTION VERSION HELP.json SECTIONS.roff
       generate-man-page.py settings VERSION SETTINGS.json SECTIONS.roff

HELP.json is what a program prints for --experimental-dump-help. SETTINGS.json is what 'merchantkeyd settings-list' prints.
SECTIONS.roff contains the sections that neither of them has, such as FILES and SEE ALSO.
"""
import json
import re
import sys


def escaped(text):
    """Text for roff. A hyphen stays a hyphen that a reader can copy."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return re.sub(r"(?m)^(?=[.'])", r"\\&", text)


def bold(text):
    return f"\\fB{escaped(text)}\\fR"


def italic(text):
    return f"\\fI{escaped(text)}\\fR"


def paragraphs(text, indented=False):
    """The paragraphs of a help text. Lines that begin with spaces are examples, which keep their line ends."""
    lines = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        example = re.fullmatch(r"(?:(.*?)\s+)?(Examples?:)\s+(.*)", paragraph, re.DOTALL)
        if example:
            commands = "\n".join("  " + line.strip() for line in example[3].splitlines())
            paragraph = "\n".join(filter(None, [example[1], example[2], commands]))
        lines.append(".IP" if indented else ".PP")
        in_example = False
        for line in paragraph.splitlines():
            is_example = line.startswith("  ")
            if is_example != in_example:
                lines += [".IP", ".EX"] if is_example else [".EE"]
                in_example = is_example
            lines.append(escaped(line.strip()))
        if in_example:
            lines.append(".EE")
    return lines


def spelling(name):
    return ("-" if name["kind"] == "short" else "--") + name["name"]


def value(argument):
    return argument.get("valueName", "value")


def usage(argument):
    """The argument in a synopsis."""
    if argument["kind"] == "positional":
        text = italic(value(argument))
    else:
        text = bold(spelling(argument["preferredName"]))
        if argument["kind"] == "option":
            text += " " + italic(value(argument))
    if argument["isRepeating"]:
        text += " ..."
    return f"[{text}]" if argument["isOptional"] else text


def described(argument):
    """The argument as an entry of a list."""
    if argument["kind"] == "positional":
        lines = [".TP", italic(value(argument))]
    else:
        names = ", ".join(bold(spelling(name)) for name in argument["names"])
        lines = [".TP", names + (" " + italic(value(argument)) if argument["kind"] == "option" else "")]
    lines.append(escaped(argument.get("abstract", "")) or "\\&")
    if argument["isRepeating"]:
        lines.append("Can be given more than once.")
    if "allValues" in argument:
        lines.append("Values: " + ", ".join(bold(value) for value in argument["allValues"]) + ".")
    if "defaultValue" in argument and argument["kind"] != "flag":
        lines.append(f"Default: {bold(argument['defaultValue'])}.")
    if "discussion" in argument:
        lines += paragraphs(argument["discussion"], indented=True)
    return lines


def shown(items):
    return [item for item in items or [] if item.get("shouldDisplay", True)]


def key(argument):
    return (argument["kind"], tuple(spelling(name) for name in argument.get("names", [])), value(argument))


def leaves(command):
    """The commands that have no subcommands, without 'help', which only prints what this page contains."""
    subcommands = [each for each in shown(command.get("subcommands")) if each["commandName"] != "help"]
    if not subcommands:
        return [command]
    return [leaf for each in subcommands for leaf in leaves(each)]


def head(title, section, version, program, abstract):
    return [
        # No hyphenation: a reader copies commands and options.
        ".nr HY 0",
        f'.TH "{title.upper()}" "{section}" "" "merchantkeyd {version}" "merchantkeyd manual"',
        ".ad l",
        ".SH NAME",
        f"{escaped(program)} \\- {escaped(abstract.rstrip('.'))}",
    ]


def command_page(section, version, tool):
    root = tool["command"]
    program = root["commandName"]
    commands = leaves(root)
    groups = [each for each in shown(root.get("subcommands")) if each["commandName"] != "help"]
    # A program such as merchantkeyd also runs without a command, and then has options that no command has.
    of_commands = {key(argument) for each in commands for argument in shown(each.get("arguments"))}
    runs_alone = any(key(argument) not in of_commands for argument in shown(root.get("arguments")))
    # The options that every command has are described once.
    shared = set() if runs_alone else set.intersection(
        *({key(argument) for argument in shown(each.get("arguments"))} for each in commands))
    lines = head(program, section, version, program, root["abstract"]) + [".SH SYNOPSIS"]
    synopsis = [bold(program) + " " + " ".join(usage(each) for each in shown(root.get("arguments")))]
    if groups:
        lines += synopsis + [".br"] if runs_alone else []
        lines += [bold(program) + " " + italic("command") + " [" + italic("options") + "]"]
    else:
        lines += synopsis
    lines += [".SH DESCRIPTION"] + paragraphs(root.get("discussion", root["abstract"]))
    lines.append(".SH OPTIONS")
    if groups:
        if runs_alone:
            for argument in shown(root.get("arguments")):
                lines += described(argument)
        else:
            lines += [".PP", "Every command has these options:"]
            for argument in shown(commands[0].get("arguments")):
                if key(argument) in shared:
                    lines += described(argument)
        lines.append(".SH COMMANDS")
        for command in commands:
            names = [*command.get("superCommands", [])[1:], command["commandName"]]
            own = [each for each in shown(command.get("arguments")) if key(each) not in shared]
            lines += [".SS " + escaped(" ".join(names)), ".PP"]
            lines.append(" ".join([bold(" ".join([program, *names])), *(usage(each) for each in own)]))
            lines += paragraphs(command["abstract"])
            if "discussion" in command:
                lines += paragraphs(command["discussion"])
            for argument in own:
                lines += described(argument)
    else:
        for argument in shown(root.get("arguments")):
            lines += described(argument)
    return lines


def settings_page(version, settings):
    lines = head("merchantkeyd.yaml", "5", version, "merchantkeyd.yaml", "settings of merchantkeyd(8)")
    lines += [".SH DESCRIPTION"] + paragraphs(
        "The daemon merchantkeyd reads its settings from this YAML file, which the option --config names. Every setting is optional.\n\n"
        "A dot in a name below means one level of indentation: log.level is the key level in the mapping log. "
        "A setting with an environment variable can be set by this variable instead, which overrides the file. "
        "The daemon does not start if the file contains a setting that this page does not list.")
    lines.append(".SH SETTINGS")
    group = None
    for setting in settings:
        first = setting["name"].split(".")[0]
        if first != group:
            group = first
            lines.append(".SS " + escaped(group))
            if setting.get("table"):
                lines += paragraphs(f"The value of {setting['table']} is a list of mappings.")
        lines += [".TP", bold(setting["name"]), escaped(setting["summary"])]
        expected = re.sub(r"^expected ", "", setting["expectation"])
        kind = f"a list; each element is {expected}" if setting["isList"] else expected
        lines += [".br", f"Value: {escaped(kind)}.", ".br", f"Default: {escaped(setting['default'])}."]
        when = "a reload or a restart" if setting["isReloadable"] else "a restart"
        lines += [".br", f"A change takes effect at {when}."]
        if setting.get("environmentVariable"):
            lines += [".br", f"Environment variable: {bold(setting['environmentVariable'])}."]
    return lines


def main():
    match sys.argv[1:]:
        case ["command", section, version, dump, sections]:
            with open(dump, encoding="utf-8") as file:
                lines = command_page(section, version, json.load(file))
        case ["settings", version, dump, sections]:
            with open(dump, encoding="utf-8") as file:
                lines = settings_page(version, json.load(file)["settings"])
        case _:
            sys.exit(__doc__)
    with open(sections, encoding="utf-8") as file:
        lines.append(file.read().rstrip("\n"))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
