#include "app/cli/opened_run.h"

namespace lockstep {

Result<OpenedRun> openRun(ProjectStore& project, const std::string& name)
{
    Result<RunInfo> info = project.run(name);
    if (!info)
        return info.error();
    Result<RunConfig> config = runConfigFromJson(info->configJson);
    if (!config)
        return config.error();
    Result<RunReader> reader = RunReader::open(info->folder);
    if (!reader)
        return reader.error();
    return OpenedRun{std::move(info).value(), std::move(config).value(), std::move(reader).value()};
}

} // namespace lockstep
