// faults: what can be planted with run --fault, as the engine says it.
#include "app/cli/cli_context.h"
#include "app/cli/json_output.h"
#include "app/cli/table.h"
#include "core/host/worker_answers.h"

#include <QCoreApplication>

#include <fmt/format.h>

namespace lockstep {

namespace {

std::string joined(const rapidjson::Value& list)
{
    std::string text;
    for (const auto& item : list.GetArray())
        text += (text.empty() ? "" : "; ") + std::string(item.GetString());
    return text;
}

void printTables(const rapidjson::Document& catalogue)
{
    Table known({{"id"}, {"what goes wrong"}, {"parameters"}, {"needs"}});
    for (const auto& fault : catalogue["faults"].GetArray())
        known.row({fault["id"].GetString(), fault["sentence"].GetString(), joined(fault["parameters"]),
                   joined(fault["needs"])});
    Table leftOut({{"id"}, {"without a switch"}, {"reason"}});
    for (const auto& fault : catalogue["left_out"].GetArray())
        leftOut.row({fault["id"].GetString(), fault["title"].GetString(), fault["reason"].GetString()});
    fmt::print("{}\n{}", known.text(), leftOut.text());
}

} // namespace

void addFaultsCommand(CLI::App& app, CliContext& context)
{
    context.command(app, "faults", "List what run --fault can plant", [&context] {
        const QCoreApplication application(context.argc, context.argv);
        Result<rapidjson::Document> catalogue = workerCatalogue();
        if (!catalogue)
            return fail(catalogue.error());
        if (!context.json) {
            printTables(*catalogue);
            return 0;
        }
        catalogue->RemoveMember("workloads");
        JsonDocument json;
        catalogue->Accept(json.writer());
        json.print();
        return 0;
    });
}

} // namespace lockstep
