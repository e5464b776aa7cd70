// SPDX-License-Identifier: Apache-2.0
#include "cli/manual.h"

#include <cctype>
#include <cstring>

#include "cli/help.h"
#include "util/settings_table.h"

namespace rookery::cli {

namespace {

using util::Setting;

// Of the last change to the text in this file.
constexpr const char* kDate = "2026-11-29";

// Text as roff takes it: no request at the start of a line, no escape but ours; `names` in backticks become bold.
std::string roff(std::string_view text) {
  std::string result;
  bool bold = false, line_start = true;
  for (const char c : text) {
    if (line_start && (c == '.' || c == '\'')) result += "\\&";
    line_start = c == '\n';
    if (c == '\\') {
      result += "\\e";
    } else if (c == '-') {
      result += "\\-";
    } else if (c == '`') {
      bold = !bold;
      result += bold ? "\\fB" : "\\fR";
    } else {
      result += c;
    }
  }
  return result;
}

// Without what groff's tables of characters may not have in every locale.
std::string ascii(std::string text) {
  for (std::size_t at; (at = text.find("…")) != std::string::npos;) text.replace(at, std::strlen("…"), "...");
  return text;
}

std::string sentence(std::string text) {
  if (!text.empty()) text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

std::string command_section(const CommandHelp& command) {
  const std::string text = ascii(command.text);
  return ".SS " + roff(command.name) + "\n.nf\n" + roff(text) + ".fi\n";
}

std::string setting_entry(const Setting& setting) {
  const bool is_switch = setting.kind == Setting::Kind::kSwitch;
  std::string entry = ".TP\n";
  if (!setting.secret) entry += "\\fB" + roff(setting.flag()) + "\\fR" + (is_switch ? "" : setting.kind == Setting::Kind::kNumber ? " \\fIN\\fR" : " \\fIVALUE\\fR") + ", ";
  entry += "\\fB" + roff(setting.variable) + "\\fR\n";
  entry += roff(sentence(setting.help)) + ".\nAllowed: " + roff(setting.allowed) + ".\n";
  if (!setting.unit.empty()) entry += "Unit: " + roff(setting.unit) + ".\n";
  if (!setting.fallback.empty()) entry += "Default: " + roff(setting.fallback) + ".\n";
  return entry;
}

}  // namespace

std::string manual_page(const std::string& version) {
  std::string page =
      ".\\\" Made from the table of settings (src/util/settings_table.cpp) and the commands' help.\n"
      ".TH ROOKERY 1 " + std::string(kDate) + " \"rookery " + version + "\" \"User Commands\"\n"
      ".SH NAME\nrookery \\- hardened code\\-execution sandbox server\n"
      ".SH SYNOPSIS\n.B rookery\n.I COMMAND\n.RI [ OPTION ]...\n"
      ".SH DESCRIPTION\n"
      "rookery runs code that nobody has read: each session in a jail of its own, of Linux namespaces, a seccomp allowlist, no "
      "capabilities, no network, and limits on memory, processes, CPU, files and time.\n"
      ".B rookery serve\nis an HTTP server of the code\\-execution contract;\n.B rookery run\nruns one program.\n"
      ".SH COMMANDS\n";
  for (const CommandHelp& command : command_helps()) page += command_section(command);
  page +=
      ".SH SETTINGS\n"
      "A setting is a flag, a variable of the environment, or a member of the JSON object in the configuration file, under the "
      "variable's name.\nA flag goes over the environment, the environment over the file, the file over the default; an empty "
      "variable says nothing.\nA secret has no flag.\n";
  for (const util::SettingGroup& group : util::setting_groups()) {
    page += ".SS " + roff(group.title) + "\n";
    for (const Setting& setting : group.settings) page += setting_entry(setting);
  }
  page +=
      ".SH SIGNALS\n.TP\n.B SIGTERM, SIGINT\nEnd \\fBrookery serve\\fR: it lets calls finish for up to 10 seconds and leaves nothing behind.\n"
      ".TP\n.B SIGHUP\nMakes \\fBrookery serve\\fR read the token file again.\n"
      ".SH EXIT STATUS\nStands at each command; 2 is wrong usage or a wrong setting, but for \\fBrookery run\\fR, where that is 125.\n"
      ".SH ENVIRONMENT\nThe variables under SETTINGS, and\n.TP\n.B NOTIFY_SOCKET\nWhere \\fBrookery serve\\fR tells that it is ready, and that it "
      "stops; see\n.BR sd_notify (3).\n"
      ".SH EXAMPLES\n.nf\n"
      "rookery serve \\-\\-listen 0.0.0.0:8080 \\-\\-auth\\-token\\-file /etc/rookery/tokens\n"
      "rookery run \\-c \\(aqprint(6 * 7)\\(aq\n"
      "rookery run \\-\\-tool bash \\-\\-file data.csv \\-\\-out results \\-c \\(aqsort data.csv > sorted.csv\\(aq\n"
      ".fi\n"
      ".SH SEE ALSO\n.BR namespaces (7),\n.BR seccomp (2),\n.BR cgroups (7)\n";
  return page;
}

}  // namespace rookery::cli
