// SPDX-License-Identifier: Apache-2.0
#include "cli/completion.h"

#include "cli/help.h"
#include "util/settings_table.h"

namespace rookery::cli {

namespace {

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

// What follows a flag: one of a few words, or any text, for which file names are offered.
std::string values() {
  std::string cases = "    --tool) words=\"python bash\" ;;\n";
  std::string free = "--config|--out|--file|--image|--timeout|-c";
  for (const util::Setting* setting : util::all_settings()) {
    if (setting->secret || setting->kind == util::Setting::Kind::kSwitch) continue;
    if (setting->words.empty()) {
      free += "|" + setting->flag();
    } else {
      cases += "    " + setting->flag() + ") words=\"" + joined(setting->words) + "\" ;;\n";
    }
  }
  return cases + "    " + free + ") COMPREPLY=($(compgen -f -- \"$word\")); return ;;\n";
}

}  // namespace

std::string bash_completion() {
  std::string names, commands, flags;
  for (const util::Setting* setting : util::all_settings()) {
    if (!setting->secret) flags += (flags.empty() ? "" : " ") + setting->flag();
  }
  for (const CommandHelp& command : command_helps()) {
    names += command.name + " ";
    commands += "    " + command.name + ") words=\"--help " + joined(command.options) + (command.takes_settings ? " $settings" : "") + "\" ;;\n";
  }
  return "# bash completion for rookery; made from the table of settings\n"
         "_rookery() {\n"
         "  local word=\"${COMP_WORDS[COMP_CWORD]}\" before=\"${COMP_WORDS[COMP_CWORD-1]}\" words=\"\"\n"
         "  local settings=\"" + flags + "\"\n"
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" = 1 ]; then\n"
         "    COMPREPLY=($(compgen -W \"" + names + "--help\" -- \"$word\"))\n"
         "    return\n"
         "  fi\n"
         "  case \"$before\" in\n" + values() +
         "    *) case \"${COMP_WORDS[1]}\" in\n" + commands + "    esac ;;\n"
         "  esac\n"
         "  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n"
         "  if [ \"${COMP_WORDS[1]}\" = run ] && [ ${#COMPREPLY[@]} = 0 ]; then COMPREPLY=($(compgen -f -- \"$word\")); fi\n"
         "}\n"
         "complete -o filenames -F _rookery rookery\n";
}

}  // namespace rookery::cli
