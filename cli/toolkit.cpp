#include "cli/toolkit.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <memory>

#include "base/words.h"
#include "cli/help.h"
#include "cli/installation.h"
#include "cli/laid_out.h"

namespace belay::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultRoot = "/usr/local/Ascend";
constexpr const char* kVersionFolder = "cann-" BELAY_CANN_VERSION;
// Made by the Debian package, whose removal takes back every root that is named here.
constexpr const char* kRootsOfPackage = "/var/lib/belay/toolkits";

struct ToolkitArguments {
  std::string root = kDefaultRoot, prefix;
  bool all = false;
  CLI::App *install = nullptr, *remove = nullptr, *env = nullptr;
};

// --- what is laid out -----------------------------------------------------------------------------

class Drawing {
 public:
  explicit Drawing(fs::path root) : root_{std::move(root)} {}

  void directory(const fs::path& place) {
    const fs::path path = absolute(place);
    if (path.has_parent_path() && path != path.root_path()) directory(path.parent_path());
    const auto same = [&](const LaidOut& each) { return each.path == path; };
    if (path != path.root_path() && std::ranges::none_of(layout_, same))
      layout_.push_back({LaidOut::Kind::Directory, path, {}});
  }
  void link(const fs::path& place, const fs::path& target) {
    add(LaidOut::Kind::Link, place, target.string());
  }
  void file(const fs::path& place, std::string text) { add(LaidOut::Kind::File, place, std::move(text)); }
  const Layout& layout() const { return layout_; }

 private:
  fs::path absolute(const fs::path& place) const { return (root_ / place).lexically_normal(); }
  void add(LaidOut::Kind kind, const fs::path& place, std::string content) {
    directory(absolute(place).parent_path());
    layout_.push_back({kind, absolute(place), std::move(content)});
  }

  fs::path root_;
  Layout layout_;
};

struct TreeLink {
  std::string place, target;
};

// The links of a whole tree. A wheel cannot hold links, so they are only listed there.
std::vector<TreeLink> links_of_tree(const fs::path& tree) {
  std::vector<TreeLink> links;
  std::ifstream file{tree / "share/belay/links"};
  for (TreeLink link; file >> link.place >> link.target;) links.push_back(link);
  return links;
}

std::string text_of_file(const fs::path& path) {
  std::ifstream file{path, std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

// The tree again, of links to its files, with the links that it lacks.
void draw_copy(Drawing& drawing, const fs::path& tree, const std::vector<TreeLink>& links) {
  const fs::path top = kVersionFolder;
  for (const fs::directory_entry& each : fs::recursive_directory_iterator{tree}) {
    const fs::path place = top / each.path().lexically_relative(tree);
    if (each.is_symlink())
      drawing.link(place, fs::read_symlink(each.path()));
    else if (each.is_directory())
      drawing.directory(place);
    else if (each.path() == tree / "set_env.sh")  // finds its own place, through links too
      drawing.file(place, text_of_file(each.path()));
    else
      drawing.link(place, each.path());
  }
  std::error_code ignored;
  for (const TreeLink& link : links) {
    if (fs::symlink_status(tree / link.place, ignored).type() == fs::file_type::not_found)
      drawing.link(top / link.place, link.target);
  }
}

std::string driver_version_info() {
  return "Version=" BELAY_DRIVER_VERSION
         "\n"
         "ascendhal_version=7.35.23\naicpu_version=1.0\ntdt_version=1.0\nlog_version=1.0\nprof_version=2.0\n"
         "dvppkernels_version=1.1\ntsfw_version=1.0\nInnerversion=belay-" BELAY_VERSION
         "\n"
         "compatible_version=[V100R001C19],[V100R001C20],[V100R001C21],[V100R001C22],[V100R001C23]\n"
         "compatible_version_fw=[7.0.0,8.9.9]\npackage_version=" BELAY_DRIVER_VERSION "\n";
}

std::string install_info(const std::string& root) {
  return fmt::format(
      "UserName=HwHiAiUser\nUserGroup=HwHiAiUser\nDriver_Install_Type=full\nDriver_Install_Path_Param={0}\n"
      "Driver_Install_For_All=no\nDriver_Install_Mode=normal\nDriver_Install_Status=complete\n"
      "Firmware_Install_Type=full\nFirmware_Install_Path_Param={0}\n",
      root);
}

Layout draw(const fs::path& root, const Installation& installation) {
  Drawing drawing{root};
  const std::vector<TreeLink> links = links_of_tree(installation.root);
  const bool whole = std::ranges::all_of(links, [&](const TreeLink& link) {
    std::error_code ignored;
    return fs::exists(installation.root / link.place, ignored);
  });
  if (whole)
    drawing.link(kVersionFolder, installation.root);
  else
    draw_copy(drawing, installation.root, links);
  const fs::path beside = kVersionFolder, above = fs::path{".."} / kVersionFolder;
  drawing.link("cann", beside);
  drawing.link("latest", beside);
  drawing.link("set_env.sh", beside / "set_env.sh");
  for (const char* product : {"ascend-toolkit", "nnae"}) {
    drawing.link(fs::path{product} / BELAY_CANN_VERSION, above);
    drawing.link(fs::path{product} / "latest", above);
    drawing.link(fs::path{product} / "set_env.sh", above / "set_env.sh");
  }
  drawing.file("driver/version.info", driver_version_info());
  for (const char* folder : {"common", "driver", "stub"})
    drawing.directory(fs::path{"driver/lib64"} / folder);
  if (root == kDefaultRoot) {
    drawing.file("/etc/ascend_install.info", install_info(root.string()));
    drawing.link("/usr/local/bin/npu-smi", installation.root / "bin/belay");
  }
  return drawing.layout();
}

// --- the three commands ---------------------------------------------------------------------------

fs::path root_of(const std::string& given) {
  std::error_code ignored;
  fs::path root = fs::absolute(given, ignored).lexically_normal();
  if (!root.has_filename()) root = root.parent_path();
  const std::string text = root.string();
  if (given.empty() || text.find_first_of("\t\n") != std::string::npos)
    throw UsageError{fmt::format("--root got '{}'", given), "it takes the path of a directory"};
  return root;
}

std::vector<std::string> roots_of_package() {
  std::vector<std::string> roots;
  std::ifstream file{kRootsOfPackage};
  for (std::string line; std::getline(file, line);) roots.push_back(line);
  return roots;
}

void remember_root(const fs::path& root, bool there) {
  std::vector<std::string> roots = roots_of_package();
  std::erase(roots, root.string());
  if (there) roots.push_back(root.string());
  if (::access(fs::path{kRootsOfPackage}.parent_path().c_str(), W_OK) != 0) return;
  std::ofstream file{kRootsOfPackage};
  for (const std::string& each : roots) file << each << "\n";
}

void tell_what_is_left(const std::vector<fs::path>& left) {
  if (left.empty()) return;
  fmt::print(stderr, "belay toolkit: left as they are, because something else has changed or filled them:\n");
  for (const fs::path& path : left) fmt::print(stderr, "  {}\n", path.string());
}

// Our own are made anew; anything else stays as it is, and nothing is laid out.
int install(const ToolkitArguments& arguments) {
  const fs::path root = root_of(arguments.root);
  const Installation installation = find_installation();
  std::error_code ignored;
  if (!fs::exists(installation.script(), ignored))
    throw UsageError{
        fmt::format("'{}' is a build, not an installation", installation.root.string()),
        "install it first: cmake --install BUILD --prefix DIR, then DIR/bin/belay toolkit install"};
  const bool again = is_laid_out(root);
  if (again && ::access(root.c_str(), W_OK) != 0)
    throw UsageError{fmt::format("'{}' cannot be changed by this user", root.string()),
                     "run it as root (sudo), or name a directory of your own: --root ~/Ascend"};
  const Layout wanted = draw(root, installation);
  if (const std::vector<fs::path> others = taken(root, wanted); !others.empty())
    throw UsageError{
        fmt::format(
            "'{}' is there already, and is not belay's{}: a toolkit or driver is left alone",
            others[0].string(),
            others.size() == 1 ? std::string{} : fmt::format(" (nor are {} more)", others.size() - 1)),
        "use that one, or name another directory: --root DIR"};
  lay_out(root, wanted, again ? take_back(root) : std::vector<fs::path>{});
  remember_root(root, true);
  fmt::print("belay is where a toolkit is expected: {}/ascend-toolkit/latest\n", root.string());
  fmt::print("to use it: source {}/ascend-toolkit/set_env.sh\n", root.string());
  fmt::print("to undo it: belay toolkit remove{}\n",
             root == kDefaultRoot ? std::string{} : fmt::format(" --root {}", root.string()));
  return kOk;
}

int remove_one(const fs::path& root) {
  if (!is_laid_out(root)) {
    fmt::print(stderr, "belay toolkit: nothing in '{}' is belay's; nothing is removed\n", root.string());
    return kNothingFound;
  }
  tell_what_is_left(take_back(root));
  remember_root(root, false);
  fmt::print("removed from {}\n", root.string());
  return kOk;
}

int remove(const ToolkitArguments& arguments) {
  if (!arguments.all) return remove_one(root_of(arguments.root));
  int code = kOk;
  for (const std::string& root : roots_of_package()) {
    try {
      if (is_laid_out(root)) remove_one(root);
    } catch (const UsageError& error) {  // the others can go all the same
      fmt::print(stderr, "belay toolkit: {}\n", error.what());
      code = kUsage;
    }
  }
  return code;
}

std::string quoted(const std::string& text) {
  std::string all = "'";
  for (const char each : text) all += each == '\'' ? std::string{"'\\''"} : std::string{each};
  return all + "'";
}

int env(const ToolkitArguments& arguments) {
  const fs::path prefix = arguments.prefix.empty() ? find_installation().root : root_of(arguments.prefix);
  for (const char* folder : {".", "ascend-toolkit", "cann", "ascend-toolkit/latest"}) {
    const fs::path script = (prefix / folder / "set_env.sh").lexically_normal();
    std::error_code ignored;
    if (!fs::is_regular_file(script, ignored)) continue;
    fmt::print(". {}\n", quoted(script.string()));
    return kOk;
  }
  throw UsageError{fmt::format("there is no set_env.sh in '{}'", prefix.string()),
                   "name a directory that 'belay toolkit install --root DIR' has filled, or an installation"};
}

void add_root(CLI::App& app, ToolkitArguments& arguments) {
  app.add_option("--root", arguments.root, fmt::format("the directory\ndefault: {}", kDefaultRoot))
      ->type_name("DIR");
}

}  // namespace

Action add_toolkit(CLI::App& belay) {
  auto arguments = std::make_shared<ToolkitArguments>();
  CLI::App& app = *belay.add_subcommand("toolkit", "Put belay where programs expect a toolkit and a driver")
                       ->group("Commands");
  app.require_subcommand(1);
  set_help(
      app, "belay toolkit install|remove [--root DIR]\n       belay toolkit env [--prefix DIR]",
      "Many programs look for a CANN toolkit in /usr/local/Ascend, whatever is set. 'install' lays links\n"
      "there that lead to belay: ascend-toolkit/latest, latest, nnae/latest, cann, a driver with its\n"
      "version.info; for that directory also /etc/ascend_install.info and /usr/local/bin/npu-smi. It never\n"
      "touches a toolkit or driver that is there. 'remove' takes back what 'install' made, and nothing "
      "else.\n"
      "'env' prints the line that a shell must run: eval \"$(belay toolkit env)\"\n"
      "Exit code: 0; 1 nothing to remove; 2 something else is there, or it cannot be written.\n\n"
      "Examples:\n"
      "  sudo belay toolkit install                   where hard-coded paths lead\n"
      "  belay toolkit install --root ~/Ascend        without being root\n"
      "  eval \"$(belay toolkit env --prefix ~/Ascend)\"\n"
      "  sudo belay toolkit remove                    as if it had never been there");
  arguments->install = app.add_subcommand("install", "Lay links that lead to this installation");
  add_root(*arguments->install, *arguments);
  set_help(*arguments->install, "belay toolkit install [--root DIR]",
           "Example:\n  belay toolkit install --root ~/Ascend");
  arguments->remove = app.add_subcommand("remove", "Take back what install has made");
  add_root(*arguments->remove, *arguments);
  arguments->remove->add_flag("--all", arguments->all,
                              "in every directory that root has named since the Debian package is installed");
  set_help(*arguments->remove, "belay toolkit remove [--root DIR | --all]",
           "Example:\n  belay toolkit remove --root ~/Ascend");
  arguments->env = app.add_subcommand("env", "Print the line that sets the environment");
  arguments->env
      ->add_option("--prefix", arguments->prefix,
                   "a directory of 'install', or an installation\ndefault: this one")
      ->type_name("DIR");
  set_help(*arguments->env, "belay toolkit env [--prefix DIR]",
           "Example:\n  eval \"$(belay toolkit env --prefix ~/Ascend)\"");
  return [arguments] {
    if (arguments->install->parsed()) return install(*arguments);
    if (arguments->remove->parsed()) return remove(*arguments);
    return env(*arguments);
  };
}

}  // namespace belay::cli
