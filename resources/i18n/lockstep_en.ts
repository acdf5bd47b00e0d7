<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="en">
<context>
    <name>lockstep::CheckpointRepairPanel</name>
    <message numerus="yes">
        <source>Strip prefix &quot;%1&quot; from %n key(s)</source>
        <translation>
            <numerusform>Strip prefix &quot;%1&quot; from %n key</numerusform>
            <numerusform>Strip prefix &quot;%1&quot; from %n keys</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::CheckpointTree</name>
    <message numerus="yes">
        <source>%n item(s)</source>
        <translation>
            <numerusform>%n item</numerusform>
            <numerusform>%n items</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n key(s)</source>
        <translation>
            <numerusform>%n key</numerusform>
            <numerusform>%n keys</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::CheckpointVerdict</name>
    <message numerus="yes">
        <source>%n failure(s), limit 0.</source>
        <translation>
            <numerusform>%n failure, limit 0.</numerusform>
            <numerusform>%n failures, limit 0.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n remark(s), the file loads.</source>
        <translation>
            <numerusform>%n remark, the file loads.</numerusform>
            <numerusform>%n remarks, the file loads.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>CRC of %n record(s)</source>
        <translation>
            <numerusform>CRC of %n record</numerusform>
            <numerusform>CRC of %n records</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n record(s)</source>
        <translation>
            <numerusform>%n record</numerusform>
            <numerusform>%n records</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n global(s), all plain</source>
        <translation>
            <numerusform>%n global, all plain</numerusform>
            <numerusform>%n globals, all plain</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::CheckpointsPage</name>
    <message numerus="yes">
        <source>%1 NaN in %n tensor(s), limit 0</source>
        <translation>
            <numerusform>%1 NaN in %n tensor, limit 0</numerusform>
            <numerusform>%1 NaN in %n tensors, limit 0</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n further problem(s).</source>
        <translation>
            <numerusform>%n further problem.</numerusform>
            <numerusform>%n further problems.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::Comparison</name>
    <message numerus="yes">
        <source>%n key(s) differ</source>
        <translation>
            <numerusform>%n key differs</numerusform>
            <numerusform>%n keys differ</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::CoverageView</name>
    <message numerus="yes">
        <source>%1 samples, %2 ranks, %n epoch(s) shown</source>
        <translation>
            <numerusform>%1 samples, %2 ranks, %n epoch shown</numerusform>
            <numerusform>%1 samples, %2 ranks, %n epochs shown</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::CurveView</name>
    <message numerus="yes">
        <source>%n more below in the status bar</source>
        <translation>
            <numerusform>%n more below in the status bar</numerusform>
            <numerusform>%n more below in the status bar</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>, %n not finite</source>
        <translation>
            <numerusform>, %n not finite</numerusform>
            <numerusform>, %n not finite</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::CurvesPage</name>
    <message numerus="yes">
        <source>whole run
%n step(s)</source>
        <translation>
            <numerusform>whole run
%n step</numerusform>
            <numerusform>whole run
%n steps</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>whole run
%n sample(s)</source>
        <translation>
            <numerusform>whole run
%n sample</numerusform>
            <numerusform>whole run
%n samples</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::DrillsPage</name>
    <message numerus="yes">
        <source>%n rank(s)</source>
        <translation>
            <numerusform>%n rank</numerusform>
            <numerusform>%n ranks</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 of %2 survivors name the rank; all had ended after %3, limit %4. Lost: %n step(s).</source>
        <translation>
            <numerusform>%1 of %2 survivors name the rank; all had ended after %3, limit %4. Lost: %n step.</numerusform>
            <numerusform>%1 of %2 survivors name the rank; all had ended after %3, limit %4. Lost: %n steps.</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>for %n rank(s), now %1</source>
        <translation>
            <numerusform>for %n rank, now %1</numerusform>
            <numerusform>for %n ranks, now %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::FindingOffer</name>
    <message numerus="yes">
        <source>%n micro-batch(es) per step</source>
        <translation>
            <numerusform>%n micro-batch per step</numerusform>
            <numerusform>%n micro-batches per step</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n sample(s) per rank</source>
        <translation>
            <numerusform>%n sample per rank</numerusform>
            <numerusform>%n samples per rank</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s)</source>
        <translation>
            <numerusform>%n rank</numerusform>
            <numerusform>%n ranks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::FindingsPage</name>
    <message numerus="yes">
        <source>%n finding(s)</source>
        <translation>
            <numerusform>%n finding</numerusform>
            <numerusform>%n findings</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::GatePage</name>
    <message numerus="yes">
        <source>%n gate(s) before were overridden</source>
        <translation>
            <numerusform>%n gate before was overridden</numerusform>
            <numerusform>%n gates before were overridden</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::GateRuns</name>
    <message numerus="yes">
        <source>DDP, %n rank(s)</source>
        <translation>
            <numerusform>DDP, %n rank</numerusform>
            <numerusform>DDP, %n ranks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::HeatmapView</name>
    <message numerus="yes">
        <source>%1: %n steps beyond the limit</source>
        <translation>
            <numerusform>%1: %n step beyond the limit</numerusform>
            <numerusform>%1: %n steps beyond the limit</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n values are not finite.</source>
        <translation>
            <numerusform>%n value is not finite.</numerusform>
            <numerusform>%n values are not finite.</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::OverviewNotes</name>
    <message numerus="yes">
        <source>%n more finding(s)</source>
        <translation>
            <numerusform>%n more finding</numerusform>
            <numerusform>%n more findings</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::OverviewPage</name>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>%n run</numerusform>
            <numerusform>%n runs</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::Phases</name>
    <message numerus="yes">
        <source>%1 of %2, %n overridden</source>
        <translation>
            <numerusform>%1 of %2, %n overridden</numerusform>
            <numerusform>%1 of %2, %n overridden</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%1 of 5 gates, %n finding(s)</source>
        <translation>
            <numerusform>%1 of 5 gates, %n finding</numerusform>
            <numerusform>%1 of 5 gates, %n findings</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::RanksCellModel</name>
    <message numerus="yes">
        <source>median of %n rank(s): %1</source>
        <translation>
            <numerusform>median of %n rank: %1</numerusform>
            <numerusform>median of %n ranks: %1</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::RanksEqualityModel</name>
    <message numerus="yes">
        <source>%n step(s)</source>
        <translation>
            <numerusform>%n step</numerusform>
            <numerusform>%n steps</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>recorded by %n rank(s)</source>
        <translation>
            <numerusform>recorded by %n rank</numerusform>
            <numerusform>recorded by %n ranks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::RanksPage</name>
    <message numerus="yes">
        <source>no cell of %n rank(s) beyond limit %1</source>
        <translation>
            <numerusform>no cell of %n rank beyond limit %1</numerusform>
            <numerusform>no cell of %n ranks beyond limit %1</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>rank %1 is beyond limit %2 in %n step(s), first in step %3</source>
        <translation>
            <numerusform>rank %1 is beyond limit %2 in %n step, first in step %3</numerusform>
            <numerusform>rank %1 is beyond limit %2 in %n steps, first in step %3</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s)</source>
        <translation>
            <numerusform>%n rank</numerusform>
            <numerusform>%n ranks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::ReportPage</name>
    <message numerus="yes">
        <source>%n gate(s) were overridden</source>
        <translation>
            <numerusform>%n gate was overridden</numerusform>
            <numerusform>%n gates were overridden</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more in Findings</source>
        <translation>
            <numerusform>%n more in Findings</numerusform>
            <numerusform>%n more in Findings</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::RunsPage</name>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>%n run</numerusform>
            <numerusform>%n runs</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n marked</source>
        <translation>
            <numerusform>%n marked</numerusform>
            <numerusform>%n marked</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n of gates and drills</source>
        <translation>
            <numerusform>%n of gates and drills</numerusform>
            <numerusform>%n of gates and drills</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::ScriptPanel</name>
    <message numerus="yes">
        <source>%n rank(s)</source>
        <translation>
            <numerusform>%n rank</numerusform>
            <numerusform>%n ranks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::ScriptRunsView</name>
    <message numerus="yes">
        <source>%n rank(s)</source>
        <translation>
            <numerusform>%n rank</numerusform>
            <numerusform>%n ranks</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::StartPage</name>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation>
            <numerusform>%n core</numerusform>
            <numerusform>%n cores</numerusform>
        </translation>
    </message>
</context>
</TS>
