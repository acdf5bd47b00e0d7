<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS>
<TS version="2.1" language="zh_CN">
<context>
    <name>CausalLink</name>
    <message>
        <source>config</source>
        <translation>配置</translation>
    </message>
    <message>
        <source>sample ids</source>
        <translation>样本编号</translation>
    </message>
    <message>
        <source>content</source>
        <translation>内容</translation>
    </message>
    <message>
        <source>RNG</source>
        <translation>随机数</translation>
    </message>
    <message>
        <source>forward loss</source>
        <translation>前向损失</translation>
    </message>
    <message>
        <source>pre-reduction gradient</source>
        <translation>归约前梯度</translation>
    </message>
    <message>
        <source>reduced gradient</source>
        <translation>归约后梯度</translation>
    </message>
    <message>
        <source>clipping</source>
        <translation>裁剪</translation>
    </message>
    <message>
        <source>update</source>
        <translation>更新</translation>
    </message>
    <message>
        <source>parameters</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>buffers</source>
        <translation>缓冲区</translation>
    </message>
    <message>
        <source>logged values</source>
        <translation>日志值</translation>
    </message>
</context>
<context>
    <name>Quantity</name>
    <message>
        <source>epoch</source>
        <translation>epoch</translation>
    </message>
    <message>
        <source>micro-steps</source>
        <translation>微步</translation>
    </message>
    <message>
        <source>samples seen</source>
        <translation>已用样本</translation>
    </message>
    <message>
        <source>tokens seen</source>
        <translation>已用 token</translation>
    </message>
    <message>
        <source>time for data</source>
        <translation>数据耗时</translation>
    </message>
    <message>
        <source>time for forward</source>
        <translation>前向耗时</translation>
    </message>
    <message>
        <source>time for backward</source>
        <translation>反向耗时</translation>
    </message>
    <message>
        <source>wait for reduction</source>
        <translation>等待归约</translation>
    </message>
    <message>
        <source>time for optimizer</source>
        <translation>优化器耗时</translation>
    </message>
    <message>
        <source>step time</source>
        <translation>单步耗时</translation>
    </message>
    <message>
        <source>loss</source>
        <translation>损失</translation>
    </message>
    <message>
        <source>loss of a micro-batch</source>
        <translation>微批损失</translation>
    </message>
    <message>
        <source>samples of a micro-batch</source>
        <translation>微批样本数</translation>
    </message>
    <message>
        <source>tokens of a micro-batch</source>
        <translation>微批 token 数</translation>
    </message>
    <message>
        <source>loss as logged</source>
        <translation>日志损失</translation>
    </message>
    <message>
        <source>time for evaluation</source>
        <translation>评估耗时</translation>
    </message>
    <message>
        <source>evaluation loss</source>
        <translation>评估损失</translation>
    </message>
    <message>
        <source>evaluation accuracy</source>
        <translation>评估准确率</translation>
    </message>
    <message>
        <source>samples evaluated</source>
        <translation>已评估样本数</translation>
    </message>
    <message>
        <source>samples evaluated by this rank</source>
        <translation>本 rank 已评估样本数</translation>
    </message>
    <message>
        <source>size of the evaluation set</source>
        <translation>评估集大小</translation>
    </message>
    <message>
        <source>other logged value</source>
        <translation>其他记录值</translation>
    </message>
    <message>
        <source>learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>gradient norm before reduction</source>
        <translation>归约前梯度范数</translation>
    </message>
    <message>
        <source>gradient norm after reduction</source>
        <translation>归约后梯度范数</translation>
    </message>
    <message>
        <source>gradient norm after clipping</source>
        <translation>裁剪后梯度范数</translation>
    </message>
    <message>
        <source>norm used for clipping</source>
        <translation>裁剪所用范数</translation>
    </message>
    <message>
        <source>gradient projection before reduction</source>
        <translation>归约前梯度投影</translation>
    </message>
    <message>
        <source>gradient projection after reduction</source>
        <translation>归约后梯度投影</translation>
    </message>
    <message>
        <source>update norm</source>
        <translation>更新范数</translation>
    </message>
    <message>
        <source>fingerprint of parameters</source>
        <translation>参数指纹</translation>
    </message>
    <message>
        <source>fingerprint of buffers</source>
        <translation>缓冲区指纹</translation>
    </message>
    <message>
        <source>fingerprint of optimizer state</source>
        <translation>优化器状态指纹</translation>
    </message>
    <message>
        <source>optimizer step counter</source>
        <translation>优化器步计数</translation>
    </message>
    <message>
        <source>collectives</source>
        <translation>集合通信次数</translation>
    </message>
    <message>
        <source>bytes in collectives</source>
        <translation>集合通信字节数</translation>
    </message>
    <message>
        <source>dtype of the gradient collective</source>
        <translation>梯度集合通信的 dtype</translation>
    </message>
    <message>
        <source>loss scale</source>
        <translation>损失缩放</translation>
    </message>
    <message>
        <source>inf or NaN found</source>
        <translation>发现 Inf 或 NaN</translation>
    </message>
    <message>
        <source>step skipped</source>
        <translation>跳过的步</translation>
    </message>
    <message>
        <source>fingerprint of the CPU generator</source>
        <translation>CPU 生成器指纹</translation>
    </message>
    <message>
        <source>fingerprint of the CUDA generator</source>
        <translation>CUDA 生成器指纹</translation>
    </message>
    <message>
        <source>sample ids</source>
        <translation>样本编号</translation>
    </message>
    <message>
        <source>sample contents</source>
        <translation>样本内容</translation>
    </message>
    <message>
        <source>quantity %1</source>
        <translation>量 %1</translation>
    </message>
</context>
<context>
    <name>lockstep::Banner</name>
    <message>
        <source>Close this message</source>
        <translation>关闭此消息</translation>
    </message>
</context>
<context>
    <name>lockstep::CausalChain</name>
    <message>
        <source>Comparing %1 with %2</source>
        <translation>正在比较 %1 与 %2</translation>
    </message>
</context>
<context>
    <name>lockstep::CausalStrip</name>
    <message>
        <source>Causal chain</source>
        <translation>因果链</translation>
    </message>
</context>
<context>
    <name>lockstep::CheckTitles</name>
    <message>
        <source>torch version</source>
        <translation>torch 版本</translation>
    </message>
    <message>
        <source>CPU instructions torch uses</source>
        <translation>torch 使用的 CPU 指令集</translation>
    </message>
    <message>
        <source>threads per rank</source>
        <translation>每 rank 线程数</translation>
    </message>
    <message>
        <source>size of the dataset</source>
        <translation>数据集大小</translation>
    </message>
    <message>
        <source>deterministic algorithms</source>
        <translation>确定性算法</translation>
    </message>
    <message>
        <source>TF32 in matrix products</source>
        <translation>矩阵乘法中的 TF32</translation>
    </message>
    <message>
        <source>TF32 in convolutions</source>
        <translation>卷积中的 TF32</translation>
    </message>
    <message>
        <source>devices and driver</source>
        <translation>设备与驱动</translation>
    </message>
    <message>
        <source>backend</source>
        <translation>后端</translation>
    </message>
    <message>
        <source>network interfaces</source>
        <translation>网络接口</translation>
    </message>
    <message>
        <source>threads against cores</source>
        <translation>线程数与核数</translation>
    </message>
    <message>
        <source>effective global batch</source>
        <translation>有效全局批大小</translation>
    </message>
    <message>
        <source>learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>learning rate as trained</source>
        <translation>实际训练的学习率</translation>
    </message>
    <message>
        <source>micro-batches per step</source>
        <translation>每步微批数</translation>
    </message>
    <message>
        <source>mixed precision</source>
        <translation>混合精度</translation>
    </message>
    <message>
        <source>sample order</source>
        <translation>样本顺序</translation>
    </message>
    <message>
        <source>shuffle</source>
        <translation>打乱</translation>
    </message>
    <message>
        <source>drop_last</source>
        <translation>drop_last</translation>
    </message>
    <message>
        <source>seed of the weights</source>
        <translation>权重种子</translation>
    </message>
    <message>
        <source>seed of the sampler</source>
        <translation>采样器种子</translation>
    </message>
    <message>
        <source>model and data</source>
        <translation>模型与数据</translation>
    </message>
    <message>
        <source>optimizer arguments</source>
        <translation>优化器参数</translation>
    </message>
    <message>
        <source>scheduler arguments</source>
        <translation>调度器参数</translation>
    </message>
    <message>
        <source>clipping</source>
        <translation>裁剪</translation>
    </message>
    <message>
        <source>no sample on two ranks</source>
        <translation>没有样本同时在两个 rank</translation>
    </message>
    <message>
        <source>no sample left out</source>
        <translation>没有遗漏样本</translation>
    </message>
    <message>
        <source>padding duplicates</source>
        <translation>填充重复样本</translation>
    </message>
    <message>
        <source>order changes with the epoch</source>
        <translation>顺序随 epoch 变化</translation>
    </message>
    <message>
        <source>one permutation on all ranks</source>
        <translation>所有 rank 使用同一排列</translation>
    </message>
    <message>
        <source>content agrees with the id</source>
        <translation>内容与编号一致</translation>
    </message>
    <message>
        <source>random streams of the ranks</source>
        <translation>各 rank 的随机流</translation>
    </message>
    <message>
        <source>seeds of the loader workers</source>
        <translation>加载进程的种子</translation>
    </message>
    <message>
        <source>steps per epoch</source>
        <translation>每 epoch 步数</translation>
    </message>
    <message>
        <source>order as Python gives it</source>
        <translation>与 Python 一致的顺序</translation>
    </message>
    <message>
        <source>last batch</source>
        <translation>最后一批</translation>
    </message>
    <message>
        <source>samples in the metric</source>
        <translation>计入指标的样本</translation>
    </message>
    <message>
        <source>every number of ranks</source>
        <translation>任意 rank 数</translation>
    </message>
    <message>
        <source>AMP and clipping off</source>
        <translation>AMP 与裁剪关闭</translation>
    </message>
    <message>
        <source>loss of the first batch</source>
        <translation>首批损失</translation>
    </message>
    <message>
        <source>loss of the first ten batches</source>
        <translation>前十批损失</translation>
    </message>
    <message>
        <source>DDP with one rank</source>
        <translation>单 rank 的 DDP</translation>
    </message>
    <message>
        <source>loss in the envelope</source>
        <translation>损失在包络内</translation>
    </message>
    <message>
        <source>gradient norm in the envelope</source>
        <translation>梯度范数在包络内</translation>
    </message>
    <message>
        <source>update in the envelope</source>
        <translation>更新量在包络内</translation>
    </message>
    <message>
        <source>reduction of the loss</source>
        <translation>损失的归约</translation>
    </message>
    <message>
        <source>twin equal in every bit</source>
        <translation>孪生逐位相等</translation>
    </message>
    <message>
        <source>parameters equal on all ranks</source>
        <translation>所有 rank 参数相等</translation>
    </message>
    <message>
        <source>the same with random layers on</source>
        <translation>开启随机层时亦然</translation>
    </message>
    <message>
        <source>collectives per step</source>
        <translation>每步集合通信数</translation>
    </message>
    <message>
        <source>unused parameters</source>
        <translation>未使用的参数</translation>
    </message>
    <message>
        <source>AMP and clipping on</source>
        <translation>AMP 与裁剪开启</translation>
    </message>
    <message>
        <source>DDP in the envelope under AMP</source>
        <translation>AMP 下 DDP 在包络内</translation>
    </message>
    <message>
        <source>scale equal on all ranks</source>
        <translation>所有 rank 的缩放相等</translation>
    </message>
    <message>
        <source>skipped steps equal on all ranks</source>
        <translation>所有 rank 跳过的步相同</translation>
    </message>
    <message>
        <source>clipping after the reduction</source>
        <translation>归约之后裁剪</translation>
    </message>
    <message>
        <source>checkpoint opens, every byte</source>
        <translation>检查点可打开，逐字节检查</translation>
    </message>
    <message>
        <source>no wrapper prefix in the keys</source>
        <translation>键名没有包装前缀</translation>
    </message>
    <message>
        <source>all parts of a resume saved</source>
        <translation>恢复所需部分均已保存</translation>
    </message>
    <message>
        <source>checkpoint opens in Python</source>
        <translation>检查点可用 Python 打开</translation>
    </message>
    <message>
        <source>weights rolled back bit for bit</source>
        <translation>权重逐位回滚</translation>
    </message>
    <message>
        <source>resumed equals uninterrupted</source>
        <translation>恢复运行等于未中断运行</translation>
    </message>
    <message>
        <source>optimizer counter goes on</source>
        <translation>优化器计数延续</translation>
    </message>
    <message>
        <source>DDP goes on in one process</source>
        <translation>DDP 转为单进程继续</translation>
    </message>
    <message>
        <source>one process goes on as DDP</source>
        <translation>单进程转为 DDP 继续</translation>
    </message>
    <message>
        <source>timeout recommended</source>
        <translation>建议的超时</translation>
    </message>
    <message>
        <source>data loading fails on one rank</source>
        <translation>一个 rank 数据加载失败</translation>
    </message>
    <message>
        <source>one rank is killed</source>
        <translation>一个 rank 被终止</translation>
    </message>
    <message>
        <source>one rank hangs in its data</source>
        <translation>一个 rank 在取数据时挂起</translation>
    </message>
    <message>
        <source>one rank hangs in forward</source>
        <translation>一个 rank 在前向时挂起</translation>
    </message>
    <message>
        <source>one rank hangs in a collective</source>
        <translation>一个 rank 在集合通信中挂起</translation>
    </message>
    <message>
        <source>a slow rank raises no alarm</source>
        <translation>慢 rank 不触发告警</translation>
    </message>
    <message>
        <source>disk full while saving</source>
        <translation>保存时磁盘已满</translation>
    </message>
    <message>
        <source>host loses its connections</source>
        <translation>主机失去连接</translation>
    </message>
    <message>
        <source>goes on with fewer ranks</source>
        <translation>以更少 rank 继续</translation>
    </message>
</context>
<context>
    <name>lockstep::CheckpointDiff</name>
    <message>
        <source>%1 of %2</source>
        <translation>%1/%2</translation>
    </message>
    <message>
        <source>, %1 not finite</source>
        <translation>，%1 个非有限值</translation>
    </message>
    <message>
        <source>equal values, %1 other bits</source>
        <translation>数值相等，%1 位不同</translation>
    </message>
    <message>
        <source>only in A</source>
        <translation>仅在 A 中</translation>
    </message>
    <message>
        <source>only in B</source>
        <translation>仅在 B 中</translation>
    </message>
    <message>
        <source>shapes differ</source>
        <translation>形状不同</translation>
    </message>
    <message>
        <source>B is A transposed</source>
        <translation>B 是 A 的转置</translation>
    </message>
    <message>
        <source>equal in every bit</source>
        <translation>逐位相等</translation>
    </message>
    <message>
        <source>%1 stripped from A</source>
        <translation>已从 A 去除 %1</translation>
    </message>
    <message>
        <source>%1 stripped from B</source>
        <translation>已从 B 去除 %1</translation>
    </message>
    <message>
        <source>%1 left out of names</source>
        <translation>名称中略去 %1</translation>
    </message>
</context>
<context>
    <name>lockstep::CheckpointDiffModel</name>
    <message>
        <source>key</source>
        <translation>键</translation>
    </message>
    <message>
        <source>dtype</source>
        <translation>类型</translation>
    </message>
    <message>
        <source>shape</source>
        <translation>形状</translation>
    </message>
    <message>
        <source>max |A - B|</source>
        <translation>最大 |A - B|</translation>
    </message>
    <message>
        <source>relative</source>
        <translation>相对</translation>
    </message>
    <message>
        <source>elements that differ</source>
        <translation>不同的元素</translation>
    </message>
</context>
<context>
    <name>lockstep::CheckpointDiffPanel</name>
    <message>
        <source>differing only</source>
        <translation>仅显示不同</translation>
    </message>
    <message>
        <source>Close the comparison (Esc)</source>
        <translation>关闭比较 (Esc)</translation>
    </message>
    <message>
        <source>Close the comparison</source>
        <translation>关闭比较</translation>
    </message>
    <message>
        <source>Diff</source>
        <translation>差异</translation>
    </message>
    <message>
        <source>Tensors that differ</source>
        <translation>不同的张量</translation>
    </message>
    <message>
        <source>Comparing</source>
        <translation>正在比较</translation>
    </message>
    <message>
        <source>A %1 against B %2</source>
        <translation>A %1 对比 B %2</translation>
    </message>
    <message>
        <source>Every tensor is equal in every bit.</source>
        <translation>每个张量都逐位相等。</translation>
    </message>
    <message>
        <source>%1 matched by name, %2 only in A, %3 only in B.</source>
        <translation>按名称匹配 %1 个，仅在 A 中 %2 个，仅在 B 中 %3 个。</translation>
    </message>
    <message>
        <source>%1 matched by name after the strip, %2 only in A, %3 only in B.</source>
        <translation>去除前缀后按名称匹配 %1 个，仅在 A 中 %2 个，仅在 B 中 %3 个。</translation>
    </message>
    <message>
        <source>%1 equal in every bit, %2 differ, limit 0.</source>
        <translation>%1 个逐位相等，%2 个不同，限值 0。</translation>
    </message>
</context>
<context>
    <name>lockstep::CheckpointFacts</name>
    <message>
        <source>damaged</source>
        <translation>已损坏</translation>
    </message>
    <message>
        <source>saved without</source>
        <translation>保存时未写</translation>
    </message>
    <message>
        <source>agrees</source>
        <translation>一致</translation>
    </message>
    <message>
        <source>not read yet</source>
        <translation>尚未读取</translation>
    </message>
    <message>
        <source>stored</source>
        <translation>未压缩</translation>
    </message>
    <message>
        <source>deflated</source>
        <translation>已压缩</translation>
    </message>
    <message>
        <source>part</source>
        <translation>部分</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>rank</translation>
    </message>
    <message>
        <source>in the file</source>
        <translation>文件中</translation>
    </message>
    <message>
        <source>note</source>
        <translation>备注</translation>
    </message>
    <message>
        <source>all</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>yes</source>
        <translation>有</translation>
    </message>
    <message>
        <source>missing</source>
        <translation>缺失</translation>
    </message>
    <message>
        <source>record</source>
        <translation>记录</translation>
    </message>
    <message>
        <source>CRC</source>
        <translation>CRC</translation>
    </message>
    <message>
        <source>CRC-32</source>
        <translation>CRC-32</translation>
    </message>
    <message>
        <source>bytes</source>
        <translation>字节</translation>
    </message>
    <message>
        <source>kept as</source>
        <translation>存储方式</translation>
    </message>
    <message>
        <source>at byte</source>
        <translation>字节位置</translation>
    </message>
    <message>
        <source>storage</source>
        <translation>存储</translation>
    </message>
    <message>
        <source>device</source>
        <translation>设备</translation>
    </message>
    <message>
        <source>dtype</source>
        <translation>类型</translation>
    </message>
    <message>
        <source>name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>weights_only</source>
        <translation>weights_only</translation>
    </message>
    <message>
        <source>uses</source>
        <translation>使用次数</translation>
    </message>
    <message>
        <source>first at byte</source>
        <translation>首次出现字节</translation>
    </message>
    <message>
        <source>allowed</source>
        <translation>允许</translation>
    </message>
    <message>
        <source>refused</source>
        <translation>拒绝</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
</context>
<context>
    <name>lockstep::CheckpointKeysView</name>
    <message>
        <source>filter keys</source>
        <translation>过滤键</translation>
    </message>
    <message>
        <source>Filter keys</source>
        <translation>过滤键</translation>
    </message>
    <message>
        <source>Keys of the checkpoint</source>
        <translation>检查点的键</translation>
    </message>
    <message>
        <source>typing a name goes to it, Ctrl+F filters</source>
        <translation>输入名称即可跳转，Ctrl+F 过滤</translation>
    </message>
    <message>
        <source>Copy key names</source>
        <translation>复制键名</translation>
    </message>
</context>
<context>
    <name>lockstep::CheckpointListModel</name>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>opened, %1</source>
        <translation>已打开，%1</translation>
    </message>
</context>
<context>
    <name>lockstep::CheckpointListPane</name>
    <message>
        <source>In this project, newest first</source>
        <translation>本项目中，最新在前</translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>Drop files or folders here. Nothing in a file is executed.</source>
        <translation>将文件或文件夹拖到此处。文件中的任何内容都不会被执行。</translation>
    </message>
    <message>
        <source>of gates and drills (%1)</source>
        <translation>关卡与演练的检查点（%1）</translation>
    </message>
    <message>
        <source>Show checkpoints of gates and drills (%1)</source>
        <translation>显示关卡与演练的检查点（%1）</translation>
    </message>
</context>
<context>
    <name>lockstep::CheckpointNumbers</name>
    <message>
        <source>Not read: the view repeats its bytes too often.</source>
        <translation>未读取：该视图重复引用字节次数过多。</translation>
    </message>
</context>
<context>
    <name>lockstep::CheckpointPartsView</name>
    <message>
        <source>Keys</source>
        <translation>键</translation>
    </message>
    <message>
        <source>Resume checklist</source>
        <translation>恢复清单</translation>
    </message>
    <message>
        <source>Nothing of a resumable run was recognised in this file.</source>
        <translation>此文件中没有识别到可恢复运行的内容。</translation>
    </message>
    <message>
        <source>Records and CRC</source>
        <translation>记录与 CRC</translation>
    </message>
    <message>
        <source>This file keeps no records of its own.</source>
        <translation>此文件没有自己的记录。</translation>
    </message>
    <message>
        <source>Globals</source>
        <translation>全局名称</translation>
    </message>
    <message>
        <source>The file mentions no classes or functions: it is plain data.</source>
        <translation>此文件未提及任何类或函数：它是纯数据。</translation>
    </message>
</context>
<context>
    <name>lockstep::CheckpointRepairPanel</name>
    <message>
        <source>write %1</source>
        <translation>写入 %1</translation>
    </message>
    <message>
        <source>Repair preview</source>
        <translation>修复预览</translation>
    </message>
    <message>
        <source>Cast floats to bfloat16</source>
        <translation>浮点转为 bfloat16</translation>
    </message>
    <message>
        <source>Model only, drop optimizer state</source>
        <translation>仅保留模型，舍弃优化器状态</translation>
    </message>
    <message>
        <source>Write safetensors instead of zip</source>
        <translation>写为 safetensors 而非 zip</translation>
    </message>
    <message>
        <source>Copy to</source>
        <translation>副本写到</translation>
    </message>
    <message>
        <source>Name of the copy</source>
        <translation>副本名称</translation>
    </message>
    <message>
        <source>Write repaired copy</source>
        <translation>写入修复副本</translation>
    </message>
    <message>
        <source>Copy command</source>
        <translation>复制命令</translation>
    </message>
    <message>
        <source>Or load it as it is</source>
        <translation>或按原样加载</translation>
    </message>
    <message>
        <source>written</source>
        <translation>已写入</translation>
    </message>
    <message>
        <source>nothing written</source>
        <translation>未写入</translation>
    </message>
    <message>
        <source>before</source>
        <translation>之前</translation>
    </message>
    <message>
        <source>after</source>
        <translation>之后</translation>
    </message>
    <message>
        <source>names without wrapper</source>
        <translation>无包装前缀的名称</translation>
    </message>
    <message>
        <source>names changed</source>
        <translation>更改的名称</translation>
    </message>
    <message>
        <source>tensors</source>
        <translation>张量</translation>
    </message>
    <message numerus="yes">
        <source>Strip prefix &quot;%1&quot; from %n key(s)</source>
        <translation>
            <numerusform>从 %n 个键去除前缀“%1”</numerusform>
        </translation>
    </message>
    <message>
        <source>Strip prefix: no wrapper found</source>
        <translation>去除前缀：未发现包装</translation>
    </message>
    <message>
        <source>nothing written yet</source>
        <translation>尚未写入</translation>
    </message>
    <message>
        <source>%1 more, all the same change</source>
        <translation>另有 %1 个，改动相同</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1/%2</translation>
    </message>
    <message>
        <source>%1 is there already. Choose another name; nothing is overwritten.</source>
        <translation>%1 已存在。请换一个名称；不会覆盖任何文件。</translation>
    </message>
    <message>
        <source>The original stays as it is. Ctrl+Z removes the copy again. Needs about %1, %2 free.</source>
        <translation>原文件保持不变。Ctrl+Z 可移除副本。约需 %1，可用 %2。</translation>
    </message>
    <message>
        <source>writing</source>
        <translation>正在写入</translation>
    </message>
    <message>
        <source>%1 is written. The original stays as it is; Ctrl+Z removes the copy again.</source>
        <translation>%1 已写入。原文件保持不变；Ctrl+Z 可再次删除该副本。</translation>
    </message>
</context>
<context>
    <name>lockstep::CheckpointTensorPanel</name>
    <message>
        <source>Close the view of the tensor (Esc)</source>
        <translation>关闭张量视图 (Esc)</translation>
    </message>
    <message>
        <source>Close the view of the tensor</source>
        <translation>关闭张量视图</translation>
    </message>
    <message>
        <source>picture</source>
        <translation>图</translation>
    </message>
    <message>
        <source>values</source>
        <translation>数值</translation>
    </message>
    <message>
        <source>First values of the tensor</source>
        <translation>张量的前若干值</translation>
    </message>
    <message>
        <source>%1, %2</source>
        <translation>%1，%2</translation>
    </message>
    <message>
        <source>scalar</source>
        <translation>标量</translation>
    </message>
    <message>
        <source>values: first %1 x %2</source>
        <translation>数值：前 %1 x %2</translation>
    </message>
</context>
<context>
    <name>lockstep::CheckpointTree</name>
    <message numerus="yes">
        <source>%n item(s)</source>
        <translation>
            <numerusform>%n 项</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n key(s)</source>
        <translation>
            <numerusform>%n 个键</numerusform>
        </translation>
    </message>
    <message>
        <source>meta, no bytes</source>
        <translation>meta，无数据</translation>
    </message>
    <message>
        <source>%1 holds nothing that can be listed.</source>
        <translation>%1 中没有可列出的内容。</translation>
    </message>
</context>
<context>
    <name>lockstep::CheckpointTreeModel</name>
    <message>
        <source>key</source>
        <translation>键</translation>
    </message>
    <message>
        <source>dtype</source>
        <translation>dtype</translation>
    </message>
    <message>
        <source>shape</source>
        <translation>形状</translation>
    </message>
    <message>
        <source>elements</source>
        <translation>元素数</translation>
    </message>
    <message>
        <source>value</source>
        <translation>值</translation>
    </message>
    <message>
        <source>norm %1
min %2
max %3
%4 NaN, %5 Inf</source>
        <translation>范数 %1
最小 %2
最大 %3
%4 个 NaN，%5 个 Inf</translation>
    </message>
    <message>
        <source>norm</source>
        <translation>范数</translation>
    </message>
    <message>
        <source>min</source>
        <translation>最小</translation>
    </message>
    <message>
        <source>NaN</source>
        <translation>NaN</translation>
    </message>
</context>
<context>
    <name>lockstep::CheckpointVerdict</name>
    <message>
        <source>a DDP wrapper</source>
        <translation>DDP 包装</translation>
    </message>
    <message>
        <source>activation checkpointing</source>
        <translation>激活检查点</translation>
    </message>
    <message numerus="yes">
        <source>%n failure(s), limit 0.</source>
        <translation>
            <numerusform>%n 个失败，限值 0。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n remark(s), the file loads.</source>
        <translation>
            <numerusform>%n 条提示，文件可以加载。</numerusform>
        </translation>
    </message>
    <message>
        <source>key %1</source>
        <translation>键 %1</translation>
    </message>
    <message>
        <source>file %1</source>
        <translation>文件 %1</translation>
    </message>
    <message>
        <source>record %1</source>
        <translation>记录 %1</translation>
    </message>
    <message>
        <source>byte %1</source>
        <translation>字节 %1</translation>
    </message>
    <message>
        <source>Where: %1.</source>
        <translation>位置：%1。</translation>
    </message>
    <message>
        <source>torch says: %1</source>
        <translation>torch 的提示：%1</translation>
    </message>
    <message>
        <source>All %1 keys start with &quot;%2&quot;; saved from %3</source>
        <translation>全部 %1 个键以“%2”开头；保存自%3</translation>
    </message>
    <message>
        <source> and </source>
        <translation> 和 </translation>
    </message>
    <message>
        <source>0 of %1 names fit a model without the wrapper, limit %1. Strip the prefix: %1 of %1.</source>
        <translation>%1 个名称中 0 个与无包装模型匹配，限值 %1。去除前缀后：%1/%1。</translation>
    </message>
    <message numerus="yes">
        <source>CRC of %n record(s)</source>
        <translation>
            <numerusform>%n 条记录的 CRC</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n record(s)</source>
        <translation>
            <numerusform>%n 条记录</numerusform>
        </translation>
    </message>
    <message>
        <source>opens with weights_only</source>
        <translation>可用 weights_only 打开</translation>
    </message>
    <message numerus="yes">
        <source>%n global(s), all plain</source>
        <translation>
            <numerusform>%n 个全局名称，均为普通类型</numerusform>
        </translation>
    </message>
    <message>
        <source>no wrapper prefix</source>
        <translation>没有包装前缀</translation>
    </message>
    <message>
        <source>prefix only, no _orig_mod</source>
        <translation>仅有前缀，没有 _orig_mod</translation>
    </message>
    <message>
        <source>Holds everything a resumed run needs.</source>
        <translation>包含恢复运行所需的全部内容。</translation>
    </message>
    <message>
        <source>To resume a run it lacks: %1.</source>
        <translation>恢复运行还缺少：%1。</translation>
    </message>
    <message>
        <source>%1 of %2 tensors are whole</source>
        <translation>%2 个张量中 %1 个完整</translation>
    </message>
    <message>
        <source>%1 cannot be opened</source>
        <translation>无法打开 %1</translation>
    </message>
    <message>
        <source>No finding in %1</source>
        <translation>%1 中没有发现问题</translation>
    </message>
    <message>
        <source>Without %1: right for a run that uses none.</source>
        <translation>没有 %1：对于不使用它们的运行这是正确的。</translation>
    </message>
</context>
<context>
    <name>lockstep::CheckpointsPage</name>
    <message>
        <source>Checkpoints</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>Open file</source>
        <translation>打开文件</translation>
    </message>
    <message>
        <source>Open a checkpoint</source>
        <translation>打开检查点</translation>
    </message>
    <message>
        <source>Checkpoints (*.pt *.pth *.bin *.ckpt *.safetensors *.tar);;All files (*)</source>
        <translation>检查点 (*.pt *.pth *.bin *.ckpt *.safetensors *.tar);;所有文件 (*)</translation>
    </message>
    <message>
        <source>No checkpoint yet</source>
        <translation>还没有检查点</translation>
    </message>
    <message>
        <source>A run saves one when it ends. Or open a .pt, .pth or .safetensors file.</source>
        <translation>运行结束时会保存一个。也可以打开 .pt、.pth 或 .safetensors 文件。</translation>
    </message>
    <message>
        <source>%1 cannot be opened</source>
        <translation>无法打开 %1</translation>
    </message>
    <message numerus="yes">
        <source>%n further problem(s).</source>
        <translation>
            <numerusform>另有 %n 个问题。</numerusform>
        </translation>
    </message>
    <message>
        <source>torch.load with weights_only=True refuses this file</source>
        <translation>torch.load 在 weights_only=True 时拒绝此文件</translation>
    </message>
    <message>
        <source>Nothing to list</source>
        <translation>没有可列出的内容</translation>
    </message>
    <message>
        <source>%1, %2, %3</source>
        <translation>%1，%2，%3</translation>
    </message>
    <message>
        <source>%1 tensors, %2 elements read in %3 ms</source>
        <translation>%3 ms 内读取 %1 个张量、%2 个元素</translation>
    </message>
    <message>
        <source>Export CSV</source>
        <translation>导出 CSV</translation>
    </message>
    <message>
        <source>Save what is whole</source>
        <translation>保存完整部分</translation>
    </message>
    <message>
        <source>0 NaN, %1 Inf</source>
        <translation>0 个 NaN，%1 个 Inf</translation>
    </message>
    <message numerus="yes">
        <source>%1 NaN in %n tensor(s), limit 0</source>
        <translation>
            <numerusform>%n 个张量中有 %1 个 NaN，限值 0</numerusform>
        </translation>
    </message>
    <message>
        <source>First in %1. Use an older checkpoint, or find the step in which it appeared.</source>
        <translation>最先在 %1。请使用更早的检查点，或找出它出现的那一步。</translation>
    </message>
    <message>
        <source>%1 keys read in %2 ms, statistics of %3 in %4 s</source>
        <translation>%2 ms 内读取 %1 个键，%4 s 内统计 %3</translation>
    </message>
    <message>
        <source>Export the table</source>
        <translation>导出表格</translation>
    </message>
    <message>
        <source>Tables (*.csv)</source>
        <translation>表格 (*.csv)</translation>
    </message>
    <message>
        <source>%1 was not written</source>
        <translation>未写入 %1</translation>
    </message>
    <message>
        <source>%1. Choose another folder.</source>
        <translation>%1。请选择其他文件夹。</translation>
    </message>
    <message>
        <source>%1 written</source>
        <translation>已写入 %1</translation>
    </message>
    <message>
        <source>Compare with</source>
        <translation>比较</translation>
    </message>
    <message>
        <source>Other file...</source>
        <translation>其他文件...</translation>
    </message>
    <message>
        <source>Compare with a checkpoint</source>
        <translation>与检查点比较</translation>
    </message>
    <message>
        <source>%1 written. Ctrl+Z removes it again.</source>
        <translation>已写入 %1。Ctrl+Z 可移除。</translation>
    </message>
    <message>
        <source>The copy was not written</source>
        <translation>未写入副本</translation>
    </message>
</context>
<context>
    <name>lockstep::ChecksModel</name>
    <message>
        <source>holds</source>
        <translation>成立</translation>
    </message>
    <message>
        <source>fails</source>
        <translation>不成立</translation>
    </message>
    <message>
        <source>cannot judge</source>
        <translation>无法判定</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>verdict</source>
        <translation>判定</translation>
    </message>
    <message>
        <source>check</source>
        <translation>检查</translation>
    </message>
    <message>
        <source>number</source>
        <translation>数值</translation>
    </message>
    <message>
        <source>limit</source>
        <translation>限值</translation>
    </message>
    <message>
        <source>where</source>
        <translation>位置</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>等待</translation>
    </message>
</context>
<context>
    <name>lockstep::CliCommands</name>
    <message>
        <source>lockstep-cli was not found. It does the work and should stand beside this program. Install it there or set LOCKSTEP_CLI.</source>
        <translation>找不到 lockstep-cli。实际工作由它完成，它应与本程序在同一目录。请安装到该处或设置 LOCKSTEP_CLI。</translation>
    </message>
    <message>
        <source>The command was cancelled.</source>
        <translation>命令已取消。</translation>
    </message>
    <message>
        <source>%1 could not be started. It is not an executable program. Build it again.</source>
        <translation>无法启动 %1。它不是可执行程序。请重新构建。</translation>
    </message>
    <message>
        <source>The answer of lockstep-cli could not be read. The run may have started; it then appears in the list.</source>
        <translation>无法读取 lockstep-cli 的回答。运行可能已经开始；若是，它会出现在列表中。</translation>
    </message>
    <message>
        <source>%1 did not answer. It is no Python, or its torch takes more than a minute to import. Try it in a terminal.</source>
        <translation>%1 没有应答。它不是 Python，或者导入 torch 超过一分钟。请在终端中试一试。</translation>
    </message>
    <message>
        <source>%1 cannot import torch: %2. Choose the Python of the environment that has it.</source>
        <translation>%1 无法导入 torch：%2。请选择装有 torch 的环境中的 Python。</translation>
    </message>
    <message>
        <source>it said nothing</source>
        <translation>它没有给出原因</translation>
    </message>
    <message>
        <source>The torch of %1 is %2. Recording a script needs 2.1 or newer.</source>
        <translation>%1 的 torch 是 %2。记录脚本需要 2.1 或更新版本。</translation>
    </message>
    <message>
        <source>The script was not started. Its working folder %1 is not there. Use my script takes another one.</source>
        <translation>脚本未启动。工作文件夹 %1 不存在。可在“使用我的脚本”中另选一个。</translation>
    </message>
    <message>
        <source>%1: %2.</source>
        <translation>%1：%2。</translation>
    </message>
    <message>
        <source>%1, byte %2: %3.</source>
        <translation>%1，第 %2 字节：%3。</translation>
    </message>
</context>
<context>
    <name>lockstep::CodeBlock</name>
    <message>
        <source>Copy</source>
        <translation>复制</translation>
    </message>
</context>
<context>
    <name>lockstep::Comparison</name>
    <message>
        <source>missing</source>
        <translation>缺失</translation>
    </message>
    <message>
        <source>0 bits</source>
        <translation>0 位</translation>
    </message>
    <message>
        <source>4 decimals</source>
        <translation>4 位小数</translation>
    </message>
    <message>
        <source>equal</source>
        <translation>相等</translation>
    </message>
    <message numerus="yes">
        <source>%n key(s) differ</source>
        <translation>
            <numerusform>%n 个键不同</numerusform>
        </translation>
    </message>
    <message>
        <source>not compared</source>
        <translation>未比较</translation>
    </message>
    <message>
        <source>first broken link, step %1</source>
        <translation>首个断裂环节，第 %1 步</translation>
    </message>
    <message>
        <source>from step %1</source>
        <translation>自第 %1 步</translation>
    </message>
    <message>
        <source>0 bits at step %1</source>
        <translation>第 %1 步相差 0 位</translation>
    </message>
    <message>
        <source>agrees at step 1</source>
        <translation>第 1 步一致</translation>
    </message>
    <message>
        <source>%1 equal</source>
        <translation>%1 个相等</translation>
    </message>
    <message>
        <source>The loss parts by more than 4 decimals from step %1; whether that is rounding, a twin or a measured envelope can tell.</source>
        <translation>损失自第 %1 步起相差超过 4 位小数；是否为舍入误差，可由孪生运行或实测包络判断。</translation>
    </message>
    <message>
        <source>The loss stays equal at 4 decimals to the end.</source>
        <translation>损失直到结束都在 4 位小数内相等。</translation>
    </message>
    <message>
        <source>The runs cannot be compared</source>
        <translation>这些运行无法比较</translation>
    </message>
    <message>
        <source>cannot compare</source>
        <translation>无法比较</translation>
    </message>
    <message>
        <source>%1 values in steps %2-%3</source>
        <translation>第 %2-%3 步的 %1 个值</translation>
    </message>
    <message>
        <source>First divergent step %1: %2</source>
        <translation>首个偏离步 %1：%2</translation>
    </message>
    <message>
        <source>%1: %2 in A, %3 in B, limit %4. Compared: %5.</source>
        <translation>%1：A 为 %2，B 为 %3，限值 %4。已比较：%5。</translation>
    </message>
    <message>
        <source>Rank %1</source>
        <translation>Rank %1</translation>
    </message>
    <message>
        <source>All ranks together</source>
        <translation>所有 rank 合计</translation>
    </message>
    <message>
        <source>0 bits differ</source>
        <translation>相差 0 位</translation>
    </message>
    <message>
        <source>Compared: %1, rank by rank, limit 0 bits.</source>
        <translation>已比较：%1，逐 rank，限值 0 位。</translation>
    </message>
    <message>
        <source>The first batch agrees at 4 decimals</source>
        <translation>首批在 4 位小数内一致</translation>
    </message>
    <message>
        <source>The same samples in steps %1-%2.</source>
        <translation>第 %1-%2 步样本相同。</translation>
    </message>
    <message>
        <source>differs by design</source>
        <translation>设计上不同</translation>
    </message>
    <message>
        <source>inside the envelope</source>
        <translation>在包络内</translation>
    </message>
    <message>
        <source>BatchNorm: one process normalises over the global batch, a rank over its own samples.</source>
        <translation>BatchNorm：单进程按全局批次归一化，每个 rank 按自己的样本归一化。</translation>
    </message>
    <message>
        <source>Random layers: every rank draws its own dropout masks.</source>
        <translation>随机层：每个 rank 各自生成 dropout 掩码。</translation>
    </message>
    <message>
        <source>Inside the measured envelope</source>
        <translation>在实测包络内</translation>
    </message>
    <message>
        <source>Compared: %1. Limit: what %2 repeats of the single run differ by.</source>
        <translation>已比较：%1。限值：单进程运行 %2 次重复之间的差异。</translation>
    </message>
    <message>
        <source>The envelope ends at step %1; later steps are not judged.</source>
        <translation>包络到第 %1 步为止；之后的步不作判定。</translation>
    </message>
    <message>
        <source>The model is another function on several ranks, by design</source>
        <translation>该模型在多个 rank 上按设计就是另一个函数</translation>
    </message>
    <message>
        <source>A twin can tell whether anything else differs.</source>
        <translation>是否还有其他差异，可由孪生运行判断。</translation>
    </message>
    <message>
        <source>Mixed precision rounds sums coarsely, in another order on several ranks; phase 3 measures how far.</source>
        <translation>混合精度的求和舍入较粗，多 rank 时顺序不同；差多少由第 3 阶段测量。</translation>
    </message>
    <message>
        <source>agrees to step %1</source>
        <translation>一致至第 %1 步</translation>
    </message>
    <message>
        <source>%1 to %2 digits</source>
        <translation>%1 到 %2 位数字</translation>
    </message>
    <message>
        <source>%1 to %2 decimals</source>
        <translation>%1 到小数点后 %2 位</translation>
    </message>
    <message>
        <source>Equal as far as the logs print</source>
        <translation>在日志打印的精度内相等</translation>
    </message>
    <message>
        <source>equal as printed</source>
        <translation>打印值相等</translation>
    </message>
    <message>
        <source>Compared: %1. A log that prints digits cannot show more than these: %2.</source>
        <translation>已比较：%1。日志只打印有限位数，最多只能说明：%2。</translation>
    </message>
</context>
<context>
    <name>lockstep::ConfigDiffPane</name>
    <message>
        <source>differing only</source>
        <translation>仅显示不同项</translation>
    </message>
    <message>
        <source>Copy as Markdown</source>
        <translation>复制为 Markdown</translation>
    </message>
    <message>
        <source>Config diff</source>
        <translation>配置差异</translation>
    </message>
    <message>
        <source>Differing configuration keys</source>
        <translation>不同的配置键</translation>
    </message>
    <message>
        <source>Mark two runs: Space for A, Shift+Space for B.</source>
        <translation>请标记两个运行：空格为 A，Shift+空格为 B。</translation>
    </message>
    <message>
        <source>A %1 against B %2</source>
        <translation>A %1 对比 B %2</translation>
    </message>
</context>
<context>
    <name>lockstep::CoverageView</name>
    <message>
        <source>Coverage, sample by rank</source>
        <translation>覆盖情况，样本与 rank</translation>
    </message>
    <message numerus="yes">
        <source>%1 samples, %2 ranks, %n epoch(s) shown</source>
        <translation>
            <numerusform>%1 个样本，%2 个 rank，显示 %n 个 epoch</numerusform>
        </translation>
    </message>
    <message>
        <source>epoch %1</source>
        <translation>epoch %1</translation>
    </message>
    <message>
        <source>%1 ranks</source>
        <translation>%1 个 rank</translation>
    </message>
    <message>
        <source>%1 of %2 seen</source>
        <translation>已用 %1/%2</translation>
    </message>
    <message>
        <source>%1 overlap</source>
        <translation>%1 重叠</translation>
    </message>
    <message>
        <source>%1 padding</source>
        <translation>%1 填充</translation>
    </message>
    <message>
        <source>first order</source>
        <translation>首个顺序</translation>
    </message>
    <message>
        <source>same order</source>
        <translation>顺序相同</translation>
    </message>
    <message>
        <source>changed</source>
        <translation>已改变</translation>
    </message>
    <message>
        <source>not shuffled</source>
        <translation>未打乱</translation>
    </message>
    <message>
        <source>refer-
ence</source>
        <translation>参照</translation>
    </message>
    <message>
        <source>sample id</source>
        <translation>样本编号</translation>
    </message>
    <message>
        <source>order against epoch %1</source>
        <translation>与 epoch %1 的顺序对比</translation>
    </message>
    <message>
        <source>epoch %1, rank %2 uses none of these samples</source>
        <translation>epoch %1，rank %2 未使用这些样本</translation>
    </message>
    <message>
        <source>sample %1, epoch %2, rank %3, position %4, step %5</source>
        <translation>样本 %1，epoch %2，rank %3，位置 %4，第 %5 步</translation>
    </message>
</context>
<context>
    <name>lockstep::CurvePlots</name>
    <message>
        <source>loss, mean over ranks</source>
        <translation>损失，各 rank 均值</translation>
    </message>
    <message>
        <source>gradient norm after reduction, log</source>
        <translation>归约后梯度范数，对数</translation>
    </message>
    <message>
        <source>No values yet. Curves appear with the first recorded step.</source>
        <translation>还没有数值。记录第一步后出现曲线。</translation>
    </message>
    <message>
        <source>Shown once two runs have a step in common.</source>
        <translation>两次运行有共同的步后显示。</translation>
    </message>
    <message>
        <source>No gradient norm is recorded.</source>
        <translation>没有记录梯度范数。</translation>
    </message>
    <message>
        <source>Step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>Step under the cursor of all plots</source>
        <translation>所有图中光标所在的步</translation>
    </message>
    <message>
        <source>loss, difference to the reference (symlog)</source>
        <translation>损失，与参照之差（symlog）</translation>
    </message>
    <message>
        <source>loss, difference to %1 (symlog)</source>
        <translation>损失，与 %1 之差（symlog）</translation>
    </message>
    <message>
        <source>first divergent step %1</source>
        <translation>首个偏离步 %1</translation>
    </message>
    <message>
        <source>samples</source>
        <translation>样本数</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
</context>
<context>
    <name>lockstep::CurveToolbar</name>
    <message>
        <source>x axis</source>
        <translation>x 轴</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>step, log</source>
        <translation>步，对数</translation>
    </message>
    <message>
        <source>samples</source>
        <translation>样本数</translation>
    </message>
    <message>
        <source>samples, log</source>
        <translation>样本数，对数</translation>
    </message>
    <message>
        <source>Runs with another global batch are read over samples; a log axis begins at step 0</source>
        <translation>全局批大小不同的运行按样本数对照；对数轴从第 0 步开始</translation>
    </message>
    <message>
        <source>ranks</source>
        <translation>rank</translation>
    </message>
    <message>
        <source>mean</source>
        <translation>均值</translation>
    </message>
    <message>
        <source>spread</source>
        <translation>范围</translation>
    </message>
    <message>
        <source>all</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>log loss</source>
        <translation>对数损失</translation>
    </message>
    <message>
        <source>Logarithmic axis for the loss (L changes the plot under focus)</source>
        <translation>损失使用对数轴（L 切换当前图）</translation>
    </message>
    <message>
        <source>smoothing</source>
        <translation>平滑</translation>
    </message>
    <message>
        <source>Exponential, weight 0.9; the raw curve stays visible, values stay exact (S)</source>
        <translation>指数平滑，权重 0.9；原始曲线仍可见，数值保持精确 (S)</translation>
    </message>
    <message>
        <source>follow</source>
        <translation>跟随</translation>
    </message>
    <message>
        <source>Keep the newest step in view while a run records</source>
        <translation>运行记录时保持最新一步可见</translation>
    </message>
    <message>
        <source>wheel zooms, drag pans, Shift+drag selects, F fits, D first divergent step</source>
        <translation>滚轮缩放，拖动平移，Shift+拖动选择，F 适应，D 首个偏离步</translation>
    </message>
</context>
<context>
    <name>lockstep::CurveView</name>
    <message numerus="yes">
        <source>%n more below in the status bar</source>
        <translation>
            <numerusform>状态栏中还有 %n 项</numerusform>
        </translation>
    </message>
    <message>
        <source>no record</source>
        <translation>无记录</translation>
    </message>
    <message>
        <source>%1: no values.</source>
        <translation>%1：没有值。</translation>
    </message>
    <message>
        <source>%1: steps %2 to %3, last value %4</source>
        <translation>%1：第 %2 至 %3 步，末值 %4</translation>
    </message>
    <message>
        <source>, lowest %1, highest %2</source>
        <translation>，最低 %1，最高 %2</translation>
    </message>
    <message numerus="yes">
        <source>, %n not finite</source>
        <translation>
            <numerusform>，%n 个非有限值</numerusform>
        </translation>
    </message>
    <message>
        <source>No values yet.</source>
        <translation>还没有值。</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>%1 samples</source>
        <translation>%1 个样本</translation>
    </message>
    <message>
        <source>%1: no record</source>
        <translation>%1：无记录</translation>
    </message>
    <message>
        <source>%1, pinned</source>
        <translation>%1，已固定</translation>
    </message>
</context>
<context>
    <name>lockstep::Curves</name>
    <message>
        <source>%1 mean</source>
        <translation>%1 均值</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>tolerance, %1 repeats</source>
        <translation>容差，%1 次重复</translation>
    </message>
</context>
<context>
    <name>lockstep::CurvesPage</name>
    <message>
        <source>Curves</source>
        <translation>曲线</translation>
    </message>
    <message>
        <source>Undo zoom</source>
        <translation>撤销缩放</translation>
    </message>
    <message numerus="yes">
        <source>whole run
%n step(s)</source>
        <translation>
            <numerusform>整个运行
%n 步</numerusform>
        </translation>
    </message>
    <message>
        <source>Choose a reference and a second run to see where they part.</source>
        <translation>选择参照和第二个运行，查看二者在何处偏离。</translation>
    </message>
    <message>
        <source>Nothing is compared yet</source>
        <translation>尚未比较</translation>
    </message>
    <message>
        <source>Saved %1</source>
        <translation>已保存 %1</translation>
    </message>
    <message>
        <source>Export</source>
        <translation>导出</translation>
    </message>
    <message numerus="yes">
        <source>whole run
%n sample(s)</source>
        <translation>
            <numerusform>整个运行
%n 个样本</numerusform>
        </translation>
    </message>
    <message>
        <source>Values as CSV</source>
        <translation>数值存为 CSV</translation>
    </message>
    <message>
        <source>Picture as SVG</source>
        <translation>图片存为 SVG</translation>
    </message>
    <message>
        <source>Picture as PNG</source>
        <translation>图片存为 PNG</translation>
    </message>
    <message>
        <source>Export the curves</source>
        <translation>导出曲线</translation>
    </message>
    <message>
        <source>%1 was not written</source>
        <translation>未写入 %1</translation>
    </message>
    <message>
        <source>%1. Choose another folder.</source>
        <translation>%1。请选择其他文件夹。</translation>
    </message>
</context>
<context>
    <name>lockstep::DataEpochsModel</name>
    <message>
        <source>%1 of %2</source>
        <translation>%1/%2</translation>
    </message>
    <message>
        <source>%1 to %2</source>
        <translation>%1 至 %2</translation>
    </message>
    <message>
        <source>first order</source>
        <translation>首个顺序</translation>
    </message>
    <message>
        <source>same order</source>
        <translation>顺序相同</translation>
    </message>
    <message>
        <source>changed</source>
        <translation>已改变</translation>
    </message>
    <message>
        <source>epoch</source>
        <translation>epoch</translation>
    </message>
    <message>
        <source>samples seen</source>
        <translation>已用样本</translation>
    </message>
    <message>
        <source>overlap</source>
        <translation>重叠</translation>
    </message>
    <message>
        <source>padding</source>
        <translation>填充</translation>
    </message>
    <message>
        <source>omitted</source>
        <translation>遗漏</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>order</source>
        <translation>顺序</translation>
    </message>
</context>
<context>
    <name>lockstep::DataPage</name>
    <message>
        <source>Coverage, sample by rank</source>
        <translation>覆盖情况，样本与 rank</translation>
    </message>
    <message>
        <source>picture</source>
        <translation>图</translation>
    </message>
    <message>
        <source>table</source>
        <translation>表</translation>
    </message>
    <message>
        <source>Epochs</source>
        <translation>Epoch</translation>
    </message>
    <message>
        <source>What if</source>
        <translation>假设</translation>
    </message>
    <message>
        <source>ranks</source>
        <translation>rank</translation>
    </message>
    <message>
        <source>batch per rank</source>
        <translation>每 rank 批大小</translation>
    </message>
    <message>
        <source>sampler seed</source>
        <translation>采样器种子</translation>
    </message>
    <message>
        <source>drop_last</source>
        <translation>drop_last</translation>
    </message>
    <message>
        <source>shuffle</source>
        <translation>shuffle</translation>
    </message>
    <message>
        <source>seed</source>
        <translation>种子</translation>
    </message>
    <message>
        <source>Judge this plan</source>
        <translation>判定此方案</translation>
    </message>
    <message>
        <source>Apply fix and judge again</source>
        <translation>应用修复并重新判定</translation>
    </message>
    <message>
        <source>%1 steps per epoch, global batch %2, %3 padding, %4 omitted, last step %5 per rank</source>
        <translation>每 epoch %1 步，全局批大小 %2，填充 %3，遗漏 %4，末步每 rank %5</translation>
    </message>
    <message>
        <source>strong: used early, faint: used late; triangle: padding duplicate; grey line: every sample seen</source>
        <translation>深：早使用，浅：晚使用；三角：填充重复；灰线：每个样本都已出现</translation>
    </message>
</context>
<context>
    <name>lockstep::DiagnosisOutcome</name>
    <message>
        <source>%1 does not part from %2: nothing to find</source>
        <translation>%1 与 %2 没有分歧：无需诊断</translation>
    </message>
    <message>
        <source>%1 parts from %2, and no cause of the catalogue explains it</source>
        <translation>%1 与 %2 出现分歧，目录中没有能解释它的原因</translation>
    </message>
    <message>
        <source>No cause found between %1 and %2</source>
        <translation>在 %1 与 %2 之间未找到原因</translation>
    </message>
    <message>
        <source>%1 is a run of your own script. Proof needs a twin that Lockstep trains itself, and a script has none: its findings stay likely or possible.</source>
        <translation>%1 是您自己脚本的运行。证明需要由 Lockstep 自行训练的孪生运行，而脚本没有：其诊断只能是“很可能”或“可能”。</translation>
    </message>
</context>
<context>
    <name>lockstep::DrillStory</name>
    <message>
        <source>Data loading fails on one rank</source>
        <translation>一个 rank 数据加载失败</translation>
    </message>
    <message>
        <source>One rank is killed</source>
        <translation>一个 rank 被终止</translation>
    </message>
    <message>
        <source>One rank hangs while it loads data</source>
        <translation>一个 rank 加载数据时挂起</translation>
    </message>
    <message>
        <source>One rank hangs in the forward pass</source>
        <translation>一个 rank 在前向计算中挂起</translation>
    </message>
    <message>
        <source>One rank hangs in a collective</source>
        <translation>一个 rank 在集合通信中挂起</translation>
    </message>
    <message>
        <source>One rank is slow, which is no fault</source>
        <translation>一个 rank 较慢，这不是故障</translation>
    </message>
    <message>
        <source>The disk is full when rank 0 saves</source>
        <translation>rank 0 保存时磁盘已满</translation>
    </message>
    <message>
        <source>The host loses its connections</source>
        <translation>主机失去所有连接</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 s</translation>
    </message>
    <message>
        <source>host</source>
        <translation>主机</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
</context>
<context>
    <name>lockstep::DrillTimeline</name>
    <message>
        <source>%1 ms</source>
        <translation>%1 ms</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 s</translation>
    </message>
    <message>
        <source>breaks</source>
        <translation>故障</translation>
    </message>
    <message>
        <source>notices</source>
        <translation>察觉</translation>
    </message>
    <message>
        <source>exits</source>
        <translation>退出</translation>
    </message>
    <message>
        <source>names the cause</source>
        <translation>指出原因</translation>
    </message>
    <message>
        <source>Timeline of the drill</source>
        <translation>演练时间线</translation>
    </message>
    <message>
        <source>%1 %2 after %3</source>
        <translation>%1 在 %3 后%2</translation>
    </message>
    <message>
        <source>it breaks</source>
        <translation>发生故障</translation>
    </message>
    <message>
        <source>limit %1</source>
        <translation>限值 %1</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>trains</source>
        <translation>训练</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>This drill was not played yet.</source>
        <translation>尚未进行此演练。</translation>
    </message>
    <message>
        <source>This drill is being played.</source>
        <translation>正在进行此演练。</translation>
    </message>
    <message>
        <source>Nothing had to end in this drill: the run finished.</source>
        <translation>此演练中没有进程需要结束：运行正常完成。</translation>
    </message>
</context>
<context>
    <name>lockstep::DrillsPage</name>
    <message>
        <source>%1 s</source>
        <translation>%1 s</translation>
    </message>
    <message>
        <source>drill</source>
        <translation>演练</translation>
    </message>
    <message>
        <source>all gone after</source>
        <translation>全部结束用时</translation>
    </message>
    <message>
        <source>limit</source>
        <translation>限值</translation>
    </message>
    <message>
        <source>when</source>
        <translation>时间</translation>
    </message>
    <message>
        <source>survivors</source>
        <translation>幸存者</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>now</source>
        <translation>进行中</translation>
    </message>
    <message>
        <source>not readable</source>
        <translation>无法读取</translation>
    </message>
    <message>
        <source>not played</source>
        <translation>未进行</translation>
    </message>
    <message>
        <source>%1 of %2 name it</source>
        <translation>%2 个中 %1 个指出</translation>
    </message>
    <message>
        <source>Drills on real processes</source>
        <translation>真实进程上的演练</translation>
    </message>
    <message>
        <source>Play this drill</source>
        <translation>进行此演练</translation>
    </message>
    <message>
        <source>Drills</source>
        <translation>演练</translation>
    </message>
    <message>
        <source>Who noticed when</source>
        <translation>谁在何时察觉</translation>
    </message>
    <message>
        <source>disc: notices; square: exits; diamond: names the cause; hatched: waits</source>
        <translation>圆：察觉；方：退出；菱形：指出原因；斜线：等待</translation>
    </message>
    <message>
        <source>Timeout</source>
        <translation>超时</translation>
    </message>
    <message>
        <source>Goes on with fewer ranks</source>
        <translation>以更少 rank 继续</translation>
    </message>
    <message>
        <source>Play</source>
        <translation>进行</translation>
    </message>
    <message>
        <source>A run loses a rank, goes on with fewer and gets its ranks back</source>
        <translation>运行失去一个 rank，以更少的 rank 继续，之后恢复</translation>
    </message>
    <message>
        <source>loss, mean over ranks</source>
        <translation>损失，各 rank 均值</translation>
    </message>
    <message>
        <source>waiting for the first step</source>
        <translation>等待第一步</translation>
    </message>
    <message>
        <source>No run has lost ranks and gone on yet. Start one with --on-loss, or play the drill: the global batch and the order of the samples stay.</source>
        <translation>还没有运行在失去 rank 后继续。请用 --on-loss 启动一个，或进行演练：全局批大小和样本顺序保持不变。</translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s)</source>
        <translation>
            <numerusform>%n 个 rank</numerusform>
        </translation>
    </message>
    <message>
        <source>%1: %2. Global batch %3 throughout.</source>
        <translation>%1：%2。全局批大小始终为 %3。</translation>
    </message>
    <message>
        <source>%1: who noticed when</source>
        <translation>%1：谁在何时察觉</translation>
    </message>
    <message numerus="yes">
        <source>%1 of %2 survivors name the rank; all had ended after %3, limit %4. Lost: %n step(s).</source>
        <translation>
            <numerusform>%2 个幸存者中 %1 个指出该 rank；%3 后全部结束，限值 %4。损失 %n 步。</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>for %n rank(s), now %1</source>
        <translation>
            <numerusform>针对 %n 个 rank，当前 %1</numerusform>
        </translation>
    </message>
    <message>
        <source>Finish one DDP run: its step times, its start and its checkpoints say how long a rank should wait.</source>
        <translation>请先完成一次 DDP 运行：其单步耗时、启动和检查点决定 rank 应等待多久。</translation>
    </message>
</context>
<context>
    <name>lockstep::Evidence</name>
    <message>
        <source>%1 more</source>
        <translation>另有 %1 条</translation>
    </message>
</context>
<context>
    <name>lockstep::EvidencePanel</name>
    <message>
        <source>First divergent step by quantity</source>
        <translation>各量的首个偏离步</translation>
    </message>
    <message>
        <source>Exact values there</source>
        <translation>该处的精确值</translation>
    </message>
    <message>
        <source>Evidence</source>
        <translation>证据</translation>
    </message>
    <message>
        <source>F4 hides</source>
        <translation>F4 隐藏</translation>
    </message>
    <message>
        <source>Hide the panel (F4)</source>
        <translation>隐藏面板（F4）</translation>
    </message>
    <message>
        <source>Hide the panel</source>
        <translation>隐藏面板</translation>
    </message>
    <message>
        <source>live</source>
        <translation>实时</translation>
    </message>
    <message>
        <source>Choose two runs</source>
        <translation>选择两个运行</translation>
    </message>
    <message>
        <source>Comparing</source>
        <translation>正在比较</translation>
    </message>
    <message>
        <source>Add a second run at the top. The first one is the reference.</source>
        <translation>请在顶部添加第二个运行。第一个是参照。</translation>
    </message>
    <message>
        <source>%1 against %2</source>
        <translation>%1 与 %2 对比</translation>
    </message>
    <message>
        <source>diverged at step %1</source>
        <translation>在第 %1 步偏离</translation>
    </message>
    <message>
        <source>no difference</source>
        <translation>无差异</translation>
    </message>
    <message>
        <source>cannot compare</source>
        <translation>无法比较</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>|delta|</source>
        <translation>|差|</translation>
    </message>
    <message>
        <source>%1, limit %2</source>
        <translation>%1，限值 %2</translation>
    </message>
    <message>
        <source>%1, step %2</source>
        <translation>%1，第 %2 步</translation>
    </message>
    <message>
        <source>differs by design</source>
        <translation>设计上不同</translation>
    </message>
</context>
<context>
    <name>lockstep::FindingDetail</name>
    <message>
        <source>Finding</source>
        <translation>诊断</translation>
    </message>
    <message>
        <source>Speaks for it</source>
        <translation>支持的证据</translation>
    </message>
    <message>
        <source>Rules out</source>
        <translation>排除</translation>
    </message>
    <message>
        <source>Fix</source>
        <translation>修复</translation>
    </message>
    <message>
        <source>Open in Curves</source>
        <translation>在曲线页打开</translation>
    </message>
    <message>
        <source>cause %1</source>
        <translation>原因 %1</translation>
    </message>
    <message>
        <source> or </source>
        <translation> 或 </translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>all ranks</source>
        <translation>所有 rank</translation>
    </message>
    <message>
        <source>%1 against %2</source>
        <translation>%1 对比 %2</translation>
    </message>
    <message>
        <source>Run again with %1</source>
        <translation>以 %1 重新运行</translation>
    </message>
</context>
<context>
    <name>lockstep::FindingOffer</name>
    <message numerus="yes">
        <source>%n micro-batch(es) per step</source>
        <translation>
            <numerusform>每步 %n 个微批</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n sample(s) per rank</source>
        <translation>
            <numerusform>每个 rank %n 个样本</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s)</source>
        <translation>
            <numerusform>%n 个 rank</numerusform>
        </translation>
    </message>
    <message>
        <source> and </source>
        <translation> 与 </translation>
    </message>
    <message>
        <source>In these runs %1 are the same bits. A few steps of both with %2 tell them apart.</source>
        <translation>在这两次运行中，%1 逐位相同。两者以%2各训练几步即可区分。</translation>
    </message>
    <message>
        <source>Run both with %1</source>
        <translation>以%1运行两者</translation>
    </message>
    <message>
        <source>%1 %2 instead of %3</source>
        <translation>%1 为 %2 而非 %3</translation>
    </message>
    <message>
        <source>In these runs %1 are the same bits. Run both scripts with %2 and diagnose that pair.</source>
        <translation>在这两次运行中，%1 逐位相同。请以%2运行两个脚本，并诊断这一对。</translation>
    </message>
</context>
<context>
    <name>lockstep::FindingsModel</name>
    <message>
        <source>proven</source>
        <translation>已证明</translation>
    </message>
    <message>
        <source>likely</source>
        <translation>很可能</translation>
    </message>
    <message>
        <source>possible</source>
        <translation>可能</translation>
    </message>
    <message>
        <source>benign</source>
        <translation>无害</translation>
    </message>
    <message>
        <source>all</source>
        <translation>全部</translation>
    </message>
    <message>
        <source>%1 against %2</source>
        <translation>%1 对比 %2</translation>
    </message>
    <message>
        <source>certainty</source>
        <translation>确定性</translation>
    </message>
    <message>
        <source>cause</source>
        <translation>原因</translation>
    </message>
    <message>
        <source>finding</source>
        <translation>诊断</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>rank</translation>
    </message>
    <message>
        <source>runs</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>newer runs exist: %1</source>
        <translation>已有更新的运行：%1</translation>
    </message>
    <message>
        <source>%1 against %2, older runs</source>
        <translation>%1 对比 %2，较旧的运行</translation>
    </message>
</context>
<context>
    <name>lockstep::FindingsPage</name>
    <message>
        <source>Findings</source>
        <translation>诊断</translation>
    </message>
    <message>
        <source>Diagnose A and B</source>
        <translation>诊断 A 与 B</translation>
    </message>
    <message>
        <source>Prove by replay</source>
        <translation>重放验证</translation>
    </message>
    <message>
        <source>Replays each suspected cause in a twin, five at most; equal in every bit is proof</source>
        <translation>在孪生运行中重放每个可疑原因，最多五个；逐位相等即为证明</translation>
    </message>
    <message>
        <source>Findings, most certain first</source>
        <translation>诊断，按确定性排序</translation>
    </message>
    <message>
        <source>The diagnosis could not be made</source>
        <translation>无法完成诊断</translation>
    </message>
    <message>
        <source>A %1 against B %2</source>
        <translation>A %1 对比 B %2</translation>
    </message>
    <message numerus="yes">
        <source>%n finding(s)</source>
        <translation>
            <numerusform>%n 条诊断</numerusform>
        </translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>The run could not be started</source>
        <translation>无法启动运行</translation>
    </message>
    <message>
        <source>%1 trains with %2</source>
        <translation>%1 正以 %2 训练</translation>
    </message>
    <message>
        <source>It is B now. Diagnose A and B once it has finished.</source>
        <translation>它现在是 B。完成后请诊断 A 与 B。</translation>
    </message>
    <message>
        <source>The causal chain of a finding&apos;s runs stands here.</source>
        <translation>此处显示诊断所涉运行的因果链。</translation>
    </message>
    <message>
        <source>A run of this finding is gone.</source>
        <translation>此诊断所涉的一次运行已不存在。</translation>
    </message>
    <message>
        <source>None of %1 explains the separating run</source>
        <translation>%1 均不能解释区分运行</translation>
    </message>
    <message>
        <source>What that run shows is a finding of its own.</source>
        <translation>该运行所示另成一项诊断。</translation>
    </message>
    <message>
        <source>%1 remains of %2</source>
        <translation>%2 中只剩 %1</translation>
    </message>
    <message>
        <source>%1 has ended</source>
        <translation>%1 已结束</translation>
    </message>
    <message>
        <source>Diagnose A and B says whether the finding is gone.</source>
        <translation>“诊断 A 与 B”会说明该诊断是否消失。</translation>
    </message>
    <message>
        <source>What was recorded is searched for the first broken link and its cause.</source>
        <translation>将在已记录的内容中查找第一个断裂环节及其原因。</translation>
    </message>
    <message>
        <source>No finding yet. Press Diagnose A and B.</source>
        <translation>还没有诊断。请按“诊断 A 和 B”。</translation>
    </message>
    <message>
        <source>No finding yet. Mark two runs with A and B in Runs, then diagnose them.</source>
        <translation>还没有诊断。在运行页用 A 和 B 标记两次运行，然后进行诊断。</translation>
    </message>
    <message>
        <source>shown: %1 against %2; marked: A %3, B %4</source>
        <translation>显示：%1 对比 %2；已标记：A %3、B %4</translation>
    </message>
    <message>
        <source>%1; chain against %2</source>
        <translation>%1；因果链对比 %2</translation>
    </message>
</context>
<context>
    <name>lockstep::GatePage</name>
    <message>
        <source>Run checks</source>
        <translation>运行检查</translation>
    </message>
    <message>
        <source>Override with reason</source>
        <translation>说明理由并豁免</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
    <message>
        <source>Why may the migration go on although the gate does not pass? Stays visible in the report.</source>
        <translation>关卡未通过为何仍可继续迁移？理由会保留在报告中。</translation>
    </message>
    <message>
        <source>Override</source>
        <translation>豁免</translation>
    </message>
    <message>
        <source>Checks</source>
        <translation>检查</translation>
    </message>
    <message>
        <source>Check</source>
        <translation>检查</translation>
    </message>
    <message>
        <source>Fix</source>
        <translation>修复</translation>
    </message>
    <message>
        <source>Run checks again</source>
        <translation>重新运行检查</translation>
    </message>
    <message>
        <source>Take override back</source>
        <translation>撤销豁免</translation>
    </message>
    <message>
        <source>This phase is closed</source>
        <translation>此阶段未开放</translation>
    </message>
    <message>
        <source>No project is open</source>
        <translation>没有打开的项目</translation>
    </message>
    <message>
        <source>%1 hold</source>
        <translation>%1 成立</translation>
    </message>
    <message>
        <source>Not judged yet. The checks run in their own process and report here; closing the window stops nothing.</source>
        <translation>尚未判定。检查在独立进程中运行并在此报告；关闭窗口不会中断它们。</translation>
    </message>
    <message>
        <source>Overridden: %1</source>
        <translation>已豁免：%1</translation>
    </message>
    <message>
        <source>%1. The override stays visible in the report.</source>
        <translation>%1。豁免会保留在报告中。</translation>
    </message>
    <message>
        <source>%1, limit %2</source>
        <translation>%1，限值 %2</translation>
    </message>
    <message>
        <source>%1: %2</source>
        <translation>%1：%2</translation>
    </message>
    <message numerus="yes">
        <source>%n gate(s) before were overridden</source>
        <translation>
            <numerusform>之前有 %n 关被豁免</numerusform>
        </translation>
    </message>
    <message>
        <source>It will judge: %1.</source>
        <translation>将判定：%1。</translation>
    </message>
</context>
<context>
    <name>lockstep::GateRuns</name>
    <message>
        <source>waiting</source>
        <translation>等待</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1/%2</translation>
    </message>
    <message>
        <source>one process</source>
        <translation>单进程</translation>
    </message>
    <message>
        <source>DDP, 1 rank</source>
        <translation>DDP，1 个 rank</translation>
    </message>
    <message numerus="yes">
        <source>DDP, %n rank(s)</source>
        <translation>
            <numerusform>DDP，%n 个 rank</numerusform>
        </translation>
    </message>
    <message>
        <source>repeats</source>
        <translation>重复</translation>
    </message>
    <message>
        <source>DDP as trained</source>
        <translation>按训练配置的 DDP</translation>
    </message>
    <message>
        <source>twin</source>
        <translation>孪生</translation>
    </message>
    <message>
        <source>resumed</source>
        <translation>恢复</translation>
    </message>
    <message>
        <source>DDP to one</source>
        <translation>DDP 转单进程</translation>
    </message>
    <message>
        <source>one to DDP</source>
        <translation>单进程转 DDP</translation>
    </message>
</context>
<context>
    <name>lockstep::GatesModel</name>
    <message>
        <source>phase</source>
        <translation>阶段</translation>
    </message>
    <message>
        <source>gate</source>
        <translation>关卡状态</translation>
    </message>
    <message>
        <source>checks</source>
        <translation>检查</translation>
    </message>
    <message>
        <source>deciding number</source>
        <translation>决定性数字</translation>
    </message>
    <message>
        <source>limit</source>
        <translation>限值</translation>
    </message>
    <message>
        <source>finished</source>
        <translation>完成时间</translation>
    </message>
</context>
<context>
    <name>lockstep::GoToBox</name>
    <message>
        <source>Go to page, run or step   Ctrl+K</source>
        <translation>跳转到页面、运行或步   Ctrl+K</translation>
    </message>
    <message>
        <source>Go to page, run or step</source>
        <translation>跳转到页面、运行或步</translation>
    </message>
    <message>
        <source>run %1</source>
        <translation>运行 %1</translation>
    </message>
</context>
<context>
    <name>lockstep::HeatmapView</name>
    <message>
        <source>Ranks by step</source>
        <translation>各 rank 逐步</translation>
    </message>
    <message numerus="yes">
        <source>%1: %n steps beyond the limit</source>
        <translation>
            <numerusform>%1：%n 步超出限值</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 rows, none beyond the limit of %2 %3.</source>
        <translation>%1 行，没有超出限值 %2 %3 的。</translation>
    </message>
    <message numerus="yes">
        <source>%n values are not finite.</source>
        <translation>
            <numerusform>%n 个值非有限。</numerusform>
        </translation>
    </message>
    <message>
        <source>no record</source>
        <translation>无记录</translation>
    </message>
    <message>
        <source>NaN</source>
        <translation>NaN</translation>
    </message>
    <message>
        <source>beyond limit %1</source>
        <translation>超出限值 %1</translation>
    </message>
    <message>
        <source>beyond limit</source>
        <translation>超出限值</translation>
    </message>
    <message>
        <source>No values yet.</source>
        <translation>还没有值。</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>%1, step %2: %3 %4, limit %5</source>
        <translation>%1，第 %2 步：%3 %4，限值 %5</translation>
    </message>
    <message>
        <source>%1, step %2: no record</source>
        <translation>%1，第 %2 步：无记录</translation>
    </message>
</context>
<context>
    <name>lockstep::KeysPanel</name>
    <message>
        <source>Keys</source>
        <translation>快捷键</translation>
    </message>
    <message>
        <source>Alt+1 to 8</source>
        <translation>Alt+1 至 8</translation>
    </message>
    <message>
        <source>pages</source>
        <translation>页面</translation>
    </message>
    <message>
        <source>Ctrl+1 to 5</source>
        <translation>Ctrl+1 至 5</translation>
    </message>
    <message>
        <source>phases and report</source>
        <translation>阶段和报告</translation>
    </message>
    <message>
        <source>Ctrl+K</source>
        <translation>Ctrl+K</translation>
    </message>
    <message>
        <source>go to page, run or step</source>
        <translation>跳转到页面、运行或步</translation>
    </message>
    <message>
        <source>Ctrl+O</source>
        <translation>Ctrl+O</translation>
    </message>
    <message>
        <source>open a project folder</source>
        <translation>打开项目文件夹</translation>
    </message>
    <message>
        <source>F4</source>
        <translation>F4</translation>
    </message>
    <message>
        <source>show or hide the panel at the right</source>
        <translation>显示或隐藏右侧面板</translation>
    </message>
    <message>
        <source>D</source>
        <translation>D</translation>
    </message>
    <message>
        <source>first divergent step</source>
        <translation>首个偏离步</translation>
    </message>
    <message>
        <source>L</source>
        <translation>L</translation>
    </message>
    <message>
        <source>next y scale: linear, log, symlog</source>
        <translation>切换 y 刻度：线性、对数、symlog</translation>
    </message>
    <message>
        <source>S</source>
        <translation>S</translation>
    </message>
    <message>
        <source>smoothing</source>
        <translation>平滑</translation>
    </message>
    <message>
        <source>Left, Right</source>
        <translation>左、右</translation>
    </message>
    <message>
        <source>one step; with Shift ten</source>
        <translation>一步；加 Shift 十步</translation>
    </message>
    <message>
        <source>Enter</source>
        <translation>Enter</translation>
    </message>
    <message>
        <source>pin the values at the cursor</source>
        <translation>固定光标处的值</translation>
    </message>
    <message>
        <source>Wheel, Ctrl+wheel</source>
        <translation>滚轮、Ctrl+滚轮</translation>
    </message>
    <message>
        <source>zoom x, zoom y</source>
        <translation>缩放 x、缩放 y</translation>
    </message>
    <message>
        <source>Drag, Shift+drag</source>
        <translation>拖动、Shift+拖动</translation>
    </message>
    <message>
        <source>pan, select a range</source>
        <translation>平移、选择范围</translation>
    </message>
    <message>
        <source>F, double-click</source>
        <translation>F、双击</translation>
    </message>
    <message>
        <source>fit</source>
        <translation>适应窗口</translation>
    </message>
    <message>
        <source>Space, Shift+Space</source>
        <translation>空格、Shift+空格</translation>
    </message>
    <message>
        <source>mark run A, mark run B</source>
        <translation>标记运行 A、标记运行 B</translation>
    </message>
    <message>
        <source>Del</source>
        <translation>Del</translation>
    </message>
    <message>
        <source>delete a run, with undo</source>
        <translation>删除运行，可撤销</translation>
    </message>
    <message>
        <source>Ctrl+Z, Ctrl+Shift+Z</source>
        <translation>Ctrl+Z、Ctrl+Shift+Z</translation>
    </message>
    <message>
        <source>undo, redo</source>
        <translation>撤销、重做</translation>
    </message>
    <message>
        <source>Esc</source>
        <translation>Esc</translation>
    </message>
    <message>
        <source>pin, selection, filter, panel; never stops a run</source>
        <translation>固定、选择、筛选、面板；绝不停止运行</translation>
    </message>
    <message>
        <source>F5, Shift+F5</source>
        <translation>F5、Shift+F5</translation>
    </message>
    <message>
        <source>new run, use my script</source>
        <translation>新建运行，使用我的脚本</translation>
    </message>
</context>
<context>
    <name>lockstep::LiveRanksModel</name>
    <message>
        <source>silent</source>
        <translation>无响应</translation>
    </message>
    <message>
        <source>starting</source>
        <translation>启动中</translation>
    </message>
    <message>
        <source>training</source>
        <translation>训练中</translation>
    </message>
    <message>
        <source>finished</source>
        <translation>已完成</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>ended</source>
        <translation>已结束</translation>
    </message>
    <message>
        <source>interrupted</source>
        <translation>已中断</translation>
    </message>
    <message>
        <source>stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>data</source>
        <translation>数据</translation>
    </message>
    <message>
        <source>forward</source>
        <translation>前向</translation>
    </message>
    <message>
        <source>backward</source>
        <translation>反向</translation>
    </message>
    <message>
        <source>wait</source>
        <translation>等待</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1/%2</translation>
    </message>
    <message>
        <source>%1 s</source>
        <translation>%1 s</translation>
    </message>
    <message>
        <source>%1 %2 %</source>
        <translation>%1 %2 %</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>rank</translation>
    </message>
    <message>
        <source>state</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>local loss</source>
        <translation>本地损失</translation>
    </message>
    <message>
        <source>grad norm, local</source>
        <translation>本地梯度范数</translation>
    </message>
    <message>
        <source>where the step goes</source>
        <translation>单步耗时分布</translation>
    </message>
    <message>
        <source>ms</source>
        <translation>ms</translation>
    </message>
    <message>
        <source>parameters</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>last seen</source>
        <translation>最近信号</translation>
    </message>
    <message>
        <source>Other parameters than rank 0. DDP keeps them equal; the Ranks page has the first step.</source>
        <translation>参数与 rank 0 不同。DDP 应使其保持一致；“各 rank”页给出最早的步。</translation>
    </message>
</context>
<context>
    <name>lockstep::LiveRanksPane</name>
    <message>
        <source>Ranks, live</source>
        <translation>各 rank 实时状态</translation>
    </message>
    <message>
        <source>Ranks, live: %1</source>
        <translation>各 rank 实时状态：%1</translation>
    </message>
    <message>
        <source>Ranks of %1</source>
        <translation>%1 的各 rank</translation>
    </message>
</context>
<context>
    <name>lockstep::MainMenu</name>
    <message>
        <source>&amp;File</source>
        <translation>文件(&amp;F)</translation>
    </message>
    <message>
        <source>&amp;Open project folder</source>
        <translation>打开项目文件夹(&amp;O)</translation>
    </message>
    <message>
        <source>Open &amp;recent</source>
        <translation>打开最近的项目(&amp;R)</translation>
    </message>
    <message>
        <source>None yet</source>
        <translation>还没有</translation>
    </message>
    <message>
        <source>&amp;Close project</source>
        <translation>关闭项目(&amp;C)</translation>
    </message>
    <message>
        <source>&amp;Quit</source>
        <translation>退出(&amp;Q)</translation>
    </message>
    <message>
        <source>&amp;Edit</source>
        <translation>编辑(&amp;E)</translation>
    </message>
    <message>
        <source>&amp;Undo</source>
        <translation>撤销(&amp;U)</translation>
    </message>
    <message>
        <source>&amp;Redo</source>
        <translation>重做(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;Go to</source>
        <translation>跳转(&amp;G)</translation>
    </message>
    <message>
        <source>&amp;View</source>
        <translation>视图(&amp;V)</translation>
    </message>
    <message>
        <source>&amp;Panel at the right</source>
        <translation>右侧面板(&amp;P)</translation>
    </message>
    <message>
        <source>&amp;Theme</source>
        <translation>主题(&amp;T)</translation>
    </message>
    <message>
        <source>&amp;Light</source>
        <translation>浅色(&amp;L)</translation>
    </message>
    <message>
        <source>&amp;Dark</source>
        <translation>深色(&amp;D)</translation>
    </message>
    <message>
        <source>L&amp;anguage</source>
        <translation>语言(&amp;A)</translation>
    </message>
    <message>
        <source>&amp;Run</source>
        <translation>运行(&amp;R)</translation>
    </message>
    <message>
        <source>&amp;New run</source>
        <translation>新运行(&amp;N)</translation>
    </message>
    <message>
        <source>&amp;Stop newest running run</source>
        <translation>停止最新的运行(&amp;S)</translation>
    </message>
    <message>
        <source>Run newest &amp;again</source>
        <translation>再次运行最新的(&amp;A)</translation>
    </message>
    <message>
        <source>&amp;Compare</source>
        <translation>对比(&amp;C)</translation>
    </message>
    <message>
        <source>&amp;Curves of A and B</source>
        <translation>A 和 B 的曲线(&amp;C)</translation>
    </message>
    <message>
        <source>First &amp;divergent step</source>
        <translation>首个偏离步(&amp;D)</translation>
    </message>
    <message>
        <source>Next y &amp;scale</source>
        <translation>下一个 y 刻度(&amp;S)</translation>
    </message>
    <message>
        <source>&amp;Help</source>
        <translation>帮助(&amp;H)</translation>
    </message>
    <message>
        <source>&amp;Keys</source>
        <translation>快捷键(&amp;K)</translation>
    </message>
    <message>
        <source>Use &amp;my script</source>
        <translation>使用我的脚本(&amp;M)</translation>
    </message>
    <message>
        <source>&amp;Import logs</source>
        <translation>导入日志(&amp;I)</translation>
    </message>
</context>
<context>
    <name>lockstep::MainWindow</name>
    <message>
        <source>F1 keys</source>
        <translation>F1 快捷键</translation>
    </message>
    <message>
        <source>Last action: %1. Ctrl+Z takes it back.</source>
        <translation>上次操作：%1。Ctrl+Z 撤销。</translation>
    </message>
    <message>
        <source>%1 - Lockstep</source>
        <translation>%1 - Lockstep</translation>
    </message>
    <message>
        <source>Open a project folder</source>
        <translation>打开项目文件夹</translation>
    </message>
    <message>
        <source>No project open</source>
        <translation>没有打开的项目</translation>
    </message>
    <message>
        <source>Store: no writer</source>
        <translation>存储：无写入方</translation>
    </message>
    <message>
        <source>Recording: %1</source>
        <translation>正在记录：%1</translation>
    </message>
    <message>
        <source>%1, schema %2%3</source>
        <translation>%1，schema %2%3</translation>
    </message>
    <message>
        <source>, read-only</source>
        <translation>，只读</translation>
    </message>
    <message>
        <source>Store: cannot be read, see Overview</source>
        <translation>存储：无法读取，见概览</translation>
    </message>
    <message>
        <source>Imported: %1.</source>
        <translation>已导入：%1。</translation>
    </message>
    <message>
        <source>A log becomes a run of a project. Open or create one first, then drop the log again.</source>
        <translation>日志会成为项目中的一个运行。请先打开或新建项目，再拖入日志。</translation>
    </message>
    <message>
        <source>Import logs of other tools</source>
        <translation>导入其他工具的日志</translation>
    </message>
</context>
<context>
    <name>lockstep::NavigatorView</name>
    <message>
        <source>Whole run</source>
        <translation>整个运行</translation>
    </message>
    <message>
        <source>Shows steps %1 to %2.</source>
        <translation>显示第 %1 至 %2 步。</translation>
    </message>
</context>
<context>
    <name>lockstep::NewRunPanel</name>
    <message>
        <source>New run</source>
        <translation>新运行</translation>
    </message>
    <message>
        <source>Close (Esc)</source>
        <translation>关闭（Esc）</translation>
    </message>
    <message>
        <source>Close the form</source>
        <translation>关闭表单</translation>
    </message>
    <message>
        <source>mode</source>
        <translation>模式</translation>
    </message>
    <message>
        <source>workload</source>
        <translation>工作负载</translation>
    </message>
    <message>
        <source>ranks</source>
        <translation>rank 数</translation>
    </message>
    <message>
        <source>batch per rank</source>
        <translation>每 rank 批大小</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>the workload&apos;s own</source>
        <translation>由工作负载决定</translation>
    </message>
    <message>
        <source>micro-steps K</source>
        <translation>微步 K</translation>
    </message>
    <message>
        <source>optimizer</source>
        <translation>优化器</translation>
    </message>
    <message>
        <source>learning rate</source>
        <translation>学习率</translation>
    </message>
    <message>
        <source>scheduler</source>
        <translation>调度器</translation>
    </message>
    <message>
        <source>clip norm</source>
        <translation>裁剪范数</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>seed</source>
        <translation>种子</translation>
    </message>
    <message>
        <source>record</source>
        <translation>记录</translation>
    </message>
    <message>
        <source>fault</source>
        <translation>故障</translation>
    </message>
    <message>
        <source>name</source>
        <translation>名称</translation>
    </message>
    <message>
        <source>made from mode and ranks</source>
        <translation>由模式和 rank 数生成</translation>
    </message>
    <message>
        <source>Start run</source>
        <translation>开始运行</translation>
    </message>
    <message>
        <source>The same on the command line</source>
        <translation>等价的命令行</translation>
    </message>
    <message>
        <source>on the batches of</source>
        <translation>使用其批次</translation>
    </message>
    <message>
        <source> ranks</source>
        <translation> 个 rank</translation>
    </message>
    <message>
        <source>The learning rate is not a number. Write for example 0.001.</source>
        <translation>学习率不是数字。例如写 0.001。</translation>
    </message>
    <message>
        <source>The clip norm is not a number. Write for example 1.0, or leave it empty for off.</source>
        <translation>裁剪范数不是数字。例如写 1.0，留空表示关闭。</translation>
    </message>
    <message>
        <source>%1 ranks share %2 cores: the run is correct, but slower.</source>
        <translation>%1 个 rank 共用 %2 个核：运行正确，但较慢。</translation>
    </message>
    <message>
        <source>none; for example B6,k=2</source>
        <translation>无；例如 B6,k=2</translation>
    </message>
    <message>
        <source>Use my script</source>
        <translation>使用我的脚本</translation>
    </message>
    <message>
        <source>checkpoint every</source>
        <translation>检查点间隔</translation>
    </message>
    <message>
        <source>only at the end</source>
        <translation>仅在结束时</translation>
    </message>
    <message>
        <source>when ranks are lost</source>
        <translation>丢失 rank 时</translation>
    </message>
    <message>
        <source>stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>go on with fewer</source>
        <translation>以更少的 rank 继续</translation>
    </message>
    <message>
        <source>go on with one</source>
        <translation>以单进程继续</translation>
    </message>
    <message>
        <source>Armed, the run goes on by itself from its last checkpoint: same global batch, same order of samples, one curve</source>
        <translation>启用后，运行会自动从最近的检查点继续：全局批次不变，样本顺序不变，曲线连续</translation>
    </message>
    <message>
        <source>Without checkpoints on the way there is nothing to go on from.</source>
        <translation>途中没有检查点就无从继续。</translation>
    </message>
</context>
<context>
    <name>lockstep::NewerRuns</name>
    <message>
        <source> and </source>
        <translation> 和 </translation>
    </message>
    <message>
        <source>Judged on %1</source>
        <translation>依据 %1 判定</translation>
    </message>
    <message>
        <source>Judged on %1; newer runs exist: %2</source>
        <translation>依据 %1 判定；已有更新的运行：%2</translation>
    </message>
</context>
<context>
    <name>lockstep::NextAction</name>
    <message>
        <source>Watch %1: step %2 of %3</source>
        <translation>查看 %1：第 %2 步，共 %3 步</translation>
    </message>
    <message>
        <source>Watch %1: step %2</source>
        <translation>查看 %1：第 %2 步</translation>
    </message>
    <message>
        <source>About %1 left.</source>
        <translation>约剩 %1。</translation>
    </message>
    <message>
        <source>You can close this window, the run goes on.</source>
        <translation>可以关闭此窗口，运行不会中断。</translation>
    </message>
    <message>
        <source>Open in Curves</source>
        <translation>在曲线页打开</translation>
    </message>
    <message>
        <source>Stop run</source>
        <translation>停止运行</translation>
    </message>
    <message>
        <source>%1 failed on rank %2 at step %3</source>
        <translation>%1 在 rank %2 第 %3 步失败</translation>
    </message>
    <message>
        <source>%1 failed on rank %2</source>
        <translation>%1 在 rank %2 失败</translation>
    </message>
    <message>
        <source>%1 failed</source>
        <translation>%1 失败</translation>
    </message>
    <message>
        <source>The run ended without saying why. Its log is in %1.</source>
        <translation>运行结束但未说明原因。日志在 %1。</translation>
    </message>
    <message>
        <source>Run it again</source>
        <translation>再次运行</translation>
    </message>
    <message>
        <source>Show in Runs</source>
        <translation>在运行页显示</translation>
    </message>
    <message>
        <source>Train %1 in one process and with 2 ranks</source>
        <translation>用单进程和 2 个 rank 训练 %1</translation>
    </message>
    <message>
        <source>Both runs use the same global batches. Their curves show the first step where they part.</source>
        <translation>两次运行使用相同的全局批次。曲线会显示首个偏离的步。</translation>
    </message>
    <message>
        <source>Start both runs</source>
        <translation>开始两次运行</translation>
    </message>
    <message>
        <source>Choose settings</source>
        <translation>选择设置</translation>
    </message>
    <message>
        <source>Start the baseline that %1 is compared with</source>
        <translation>启动与 %1 比较的基准</translation>
    </message>
    <message>
        <source>Start the same training with 2 ranks</source>
        <translation>用 2 个 rank 启动同一训练</translation>
    </message>
    <message>
        <source>Without a single-process run on the same batches nothing can be compared.</source>
        <translation>没有使用相同批次的单进程运行，就无法比较。</translation>
    </message>
    <message>
        <source>%1 is the baseline. DDP on the same global batches shows where they part.</source>
        <translation>%1 是基准。在相同全局批次上运行 DDP 可显示二者在何处偏离。</translation>
    </message>
    <message>
        <source>Start baseline</source>
        <translation>启动基准</translation>
    </message>
    <message>
        <source>Start DDP run</source>
        <translation>启动 DDP 运行</translation>
    </message>
    <message>
        <source>%1 parts from %2 at step %3</source>
        <translation>%1 在第 %3 步偏离 %2</translation>
    </message>
    <message>
        <source>First broken link: %1. Every link before it in the chain agrees.</source>
        <translation>首个断裂环节：%1。链中此前的环节全部一致。</translation>
    </message>
    <message>
        <source>Fix what fails in %1</source>
        <translation>修复%1中不成立的检查</translation>
    </message>
    <message>
        <source>Decide on %1: it could not be judged</source>
        <translation>对%1作出决定：它无法被判定</translation>
    </message>
    <message>
        <source>Its page says what to record, and takes a written reason.</source>
        <translation>它的页面说明还需记录什么，并接受书面理由。</translation>
    </message>
    <message>
        <source>Judge the gate of %1</source>
        <translation>判定%1的关卡</translation>
    </message>
    <message>
        <source>Open phase</source>
        <translation>打开阶段</translation>
    </message>
    <message>
        <source>All gates have passed</source>
        <translation>所有关卡均已通过</translation>
    </message>
    <message>
        <source>The report holds every number for the review.</source>
        <translation>报告包含评审所需的全部数字。</translation>
    </message>
    <message>
        <source>Open report</source>
        <translation>打开报告</translation>
    </message>
    <message>
        <source>Use my script</source>
        <translation>使用我的脚本</translation>
    </message>
    <message>
        <source>Run the same script with several ranks</source>
        <translation>以多个 rank 运行同一脚本</translation>
    </message>
    <message>
        <source>%1 is the baseline. The same training under torchrun shows where they part.</source>
        <translation>%1 是基准。在 torchrun 下运行同样的训练可显示二者在何处偏离。</translation>
    </message>
    <message>
        <source>Compare the imported logs</source>
        <translation>比较导入的日志</translation>
    </message>
    <message>
        <source>Mark one run as A and another as B; Curves then shows the first step where they part.</source>
        <translation>将一个运行标为 A，另一个标为 B；曲线页随后显示它们首次分歧的步。</translation>
    </message>
</context>
<context>
    <name>lockstep::NextActionBox</name>
    <message>
        <source>Next action</source>
        <translation>下一步</translation>
    </message>
    <message>
        <source>Cancel</source>
        <translation>取消</translation>
    </message>
</context>
<context>
    <name>lockstep::OverviewNotes</name>
    <message>
        <source>override, %1</source>
        <translation>豁免，%1</translation>
    </message>
    <message>
        <source>%1 was overridden</source>
        <translation>%1 已豁免</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>finding</source>
        <translation>诊断</translation>
    </message>
    <message>
        <source>Open</source>
        <translation>打开</translation>
    </message>
    <message>
        <source>%1 against %2</source>
        <translation>%1 对比 %2</translation>
    </message>
    <message>
        <source>finding of older runs</source>
        <translation>较旧运行的诊断</translation>
    </message>
    <message numerus="yes">
        <source>%n more finding(s)</source>
        <translation>
            <numerusform>还有 %n 条诊断</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::OverviewPage</name>
    <message>
        <source>Overview</source>
        <translation>总览</translation>
    </message>
    <message>
        <source>What changes between the runs</source>
        <translation>两次运行之间的变化</translation>
    </message>
    <message>
        <source>Last runs</source>
        <translation>最近的运行</translation>
    </message>
    <message>
        <source>New run</source>
        <translation>新运行</translation>
    </message>
    <message>
        <source>New run (F5)</source>
        <translation>新运行（F5）</translation>
    </message>
    <message>
        <source>Gates</source>
        <translation>关卡</translation>
    </message>
    <message>
        <source>Where they part</source>
        <translation>在何处偏离</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>共 %n 次运行</numerusform>
        </translation>
    </message>
    <message>
        <source>%1, read-only: nothing can be started here</source>
        <translation>%1，只读：此处无法启动任何运行</translation>
    </message>
    <message>
        <source>%1 from 1 process to %2 ranks</source>
        <translation>%1：从 1 个进程到 %2 个 rank</translation>
    </message>
    <message>
        <source>Shown once there is a single-process run and a distributed one.</source>
        <translation>有单进程运行和分布式运行后显示。</translation>
    </message>
    <message>
        <source>%1 of %2 keys differ</source>
        <translation>%2 个键中 %1 个不同</translation>
    </message>
    <message>
        <source>diverged at step %1</source>
        <translation>在第 %1 步偏离</translation>
    </message>
    <message>
        <source>no difference found</source>
        <translation>未发现差异</translation>
    </message>
    <message>
        <source>cannot compare</source>
        <translation>无法比较</translation>
    </message>
    <message>
        <source>differs by design</source>
        <translation>设计上不同</translation>
    </message>
    <message>
        <source>Use my script</source>
        <translation>使用我的脚本</translation>
    </message>
    <message>
        <source>Run your own Python script, first in one process, then with several ranks</source>
        <translation>运行您自己的 Python 脚本：先单进程，再多个 rank</translation>
    </message>
    <message>
        <source>from %1 to %2</source>
        <translation>从 %1 到 %2</translation>
    </message>
</context>
<context>
    <name>lockstep::Pages</name>
    <message>
        <source>Preflight</source>
        <translation>预检</translation>
    </message>
    <message>
        <source>1 Data &amp; sampler</source>
        <translation>1 数据与采样器</translation>
    </message>
    <message>
        <source>2 Gradients &amp; DDP wrap</source>
        <translation>2 梯度与 DDP 封装</translation>
    </message>
    <message>
        <source>3 Precision &amp; checkpoint</source>
        <translation>3 精度与检查点</translation>
    </message>
    <message>
        <source>4 Drills &amp; escape hatch</source>
        <translation>4 演练与退路</translation>
    </message>
    <message>
        <source>Report</source>
        <translation>报告</translation>
    </message>
    <message>
        <source>Overview</source>
        <translation>总览</translation>
    </message>
    <message>
        <source>Curves</source>
        <translation>曲线</translation>
    </message>
    <message>
        <source>Checkpoints</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>Runs</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Ranks</source>
        <translation>各 rank</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>诊断</translation>
    </message>
</context>
<context>
    <name>lockstep::PairPlots</name>
    <message>
        <source>Open in Curves</source>
        <translation>在曲线页打开</translation>
    </message>
    <message>
        <source>loss, mean over ranks</source>
        <translation>损失，各 rank 均值</translation>
    </message>
    <message>
        <source>waiting for the first step</source>
        <translation>等待第一步</translation>
    </message>
    <message>
        <source>loss, difference to the baseline (symlog)</source>
        <translation>损失，与基准之差（symlog）</translation>
    </message>
    <message>
        <source>needs steps of both runs</source>
        <translation>需要两次运行都有步</translation>
    </message>
    <message>
        <source>%1 against %2</source>
        <translation>%1 与 %2 对比</translation>
    </message>
    <message>
        <source>live</source>
        <translation>实时</translation>
    </message>
</context>
<context>
    <name>lockstep::Phases</name>
    <message>
        <source>Preflight</source>
        <translation>预检</translation>
    </message>
    <message>
        <source>versions, devices, config</source>
        <translation>版本、设备、配置</translation>
    </message>
    <message>
        <source>Changes nothing: reads versions, devices and both configurations.</source>
        <translation>不做改动：读取版本、设备和两份配置。</translation>
    </message>
    <message>
        <source>1 Data &amp; sampler</source>
        <translation>1 数据与采样器</translation>
    </message>
    <message>
        <source>who sees which sample</source>
        <translation>谁使用哪些样本</translation>
    </message>
    <message>
        <source>Changes one thing: who sees which sample. No model runs.</source>
        <translation>只改变一件事：谁使用哪些样本。不运行模型。</translation>
    </message>
    <message>
        <source>2 Gradients &amp; DDP wrap</source>
        <translation>2 梯度与 DDP 封装</translation>
    </message>
    <message>
        <source>same gradient, bit for bit</source>
        <translation>梯度逐位相同</translation>
    </message>
    <message>
        <source>Changes one thing: the model is wrapped in DDP. AMP and clipping are forced off.</source>
        <translation>只改变一件事：用 DDP 封装模型。强制关闭 AMP 和裁剪。</translation>
    </message>
    <message>
        <source>3 Precision &amp; checkpoint</source>
        <translation>3 精度与检查点</translation>
    </message>
    <message>
        <source>AMP, clipping, save, load</source>
        <translation>AMP、裁剪、保存、加载</translation>
    </message>
    <message>
        <source>Changes one thing: AMP, clipping and checkpoints are switched on.</source>
        <translation>只改变一件事：开启 AMP、裁剪和检查点。</translation>
    </message>
    <message>
        <source>4 Drills &amp; escape hatch</source>
        <translation>4 演练与退路</translation>
    </message>
    <message>
        <source>break it on purpose</source>
        <translation>有意制造故障</translation>
    </message>
    <message>
        <source>Changes one thing: something breaks on purpose.</source>
        <translation>只改变一件事：有意制造故障。</translation>
    </message>
    <message>
        <source>Report</source>
        <translation>报告</translation>
    </message>
    <message>
        <source>one file for the review</source>
        <translation>供评审的单个文件</translation>
    </message>
    <message>
        <source>Changes nothing: puts gates, numbers and findings into one file.</source>
        <translation>不做改动：将关卡、数字和诊断汇总到一个文件。</translation>
    </message>
    <message>
        <source>%1 of %2</source>
        <translation>%1/%2</translation>
    </message>
    <message>
        <source>passed with override</source>
        <translation>带豁免通过</translation>
    </message>
    <message numerus="yes">
        <source>%1 of %2, %n overridden</source>
        <translation>
            <numerusform>%1/%2，%n 项豁免</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 of %2 checks</source>
        <translation>%1/%2 项检查</translation>
    </message>
    <message>
        <source>fails</source>
        <translation>不成立</translation>
    </message>
    <message>
        <source>%1 of %2 checks fail</source>
        <translation>%2 项检查中 %1 项不成立</translation>
    </message>
    <message>
        <source>%1 of %2 judged</source>
        <translation>已判定 %1/%2</translation>
    </message>
    <message>
        <source>draft</source>
        <translation>草稿</translation>
    </message>
    <message>
        <source>draft, %1 of 5 gates</source>
        <translation>草稿，%1/5 关</translation>
    </message>
    <message numerus="yes">
        <source>%1 of 5 gates, %n finding(s)</source>
        <translation>
            <numerusform>%1/5 关，%n 项诊断</numerusform>
        </translation>
    </message>
    <message>
        <source>judging</source>
        <translation>正在判定</translation>
    </message>
    <message>
        <source>not judged yet</source>
        <translation>尚未判定</translation>
    </message>
    <message>
        <source>preflight</source>
        <translation>预检</translation>
    </message>
    <message>
        <source>gate %1</source>
        <translation>第 %1 关</translation>
    </message>
    <message>
        <source>opens after %1</source>
        <translation>%1通过后开放</translation>
    </message>
    <message>
        <source>opens when %1 has passed or was overridden</source>
        <translation>%1通过或豁免后开放</translation>
    </message>
    <message>
        <source>diverged</source>
        <translation>偏离</translation>
    </message>
    <message>
        <source>failed</source>
        <translation>失败</translation>
    </message>
    <message>
        <source>overridden</source>
        <translation>已豁免</translation>
    </message>
    <message>
        <source>passed</source>
        <translation>通过</translation>
    </message>
    <message>
        <source>holds</source>
        <translation>成立</translation>
    </message>
    <message>
        <source>running</source>
        <translation>运行中</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>等待</translation>
    </message>
    <message>
        <source>closed</source>
        <translation>未开放</translation>
    </message>
    <message>
        <source>cannot compare</source>
        <translation>无法比较</translation>
    </message>
    <message>
        <source>follows</source>
        <translation>随之偏离</translation>
    </message>
    <message>
        <source>off</source>
        <translation>关</translation>
    </message>
    <message>
        <source>judge again</source>
        <translation>重新判定</translation>
    </message>
    <message>
        <source>older: %1</source>
        <translation>较旧：%1</translation>
    </message>
    <message>
        <source>Judges the recorded runs of your script. Nothing is started.</source>
        <translation>根据您脚本已记录的运行进行判定，不启动任何运行。</translation>
    </message>
    <message>
        <source>It trains the engine&apos;s workloads only. For your script it says what to check by hand.</source>
        <translation>它只训练引擎自带的任务。对于您的脚本，它会说明需要手动检查什么。</translation>
    </message>
</context>
<context>
    <name>lockstep::PlotExport</name>
    <message>
        <source>There is nothing to draw</source>
        <translation>没有可绘制的内容</translation>
    </message>
</context>
<context>
    <name>lockstep::PlotPage</name>
    <message>
        <source>Saved %1</source>
        <translation>已保存 %1</translation>
    </message>
    <message>
        <source>The picture could not be written. Neither the project nor the home folder can be written.</source>
        <translation>无法写入图片。项目文件夹和主文件夹均不可写。</translation>
    </message>
</context>
<context>
    <name>lockstep::PreflightKeysModel</name>
    <message>
        <source>planned</source>
        <translation>计划</translation>
    </message>
    <message>
        <source>no effect</source>
        <translation>无影响</translation>
    </message>
    <message>
        <source>declared</source>
        <translation>已声明</translation>
    </message>
    <message>
        <source>changes the maths</source>
        <translation>改变计算</translation>
    </message>
    <message>
        <source>how the run is made, not what it computes</source>
        <translation>影响运行方式，不影响计算结果</translation>
    </message>
    <message>
        <source>the migration itself</source>
        <translation>迁移本身</translation>
    </message>
    <message>
        <source>no check judges this key</source>
        <translation>没有检查判定此键</translation>
    </message>
    <message>
        <source>%1 keys: %2 equal, %3 differ</source>
        <translation>%1 个键：%2 相同，%3 不同</translation>
    </message>
    <message>
        <source>fails</source>
        <translation>不成立</translation>
    </message>
    <message>
        <source>holds</source>
        <translation>成立</translation>
    </message>
    <message>
        <source>not judged</source>
        <translation>未判定</translation>
    </message>
    <message>
        <source>needs none</source>
        <translation>无需判定</translation>
    </message>
    <message>
        <source>key</source>
        <translation>键</translation>
    </message>
    <message>
        <source>single</source>
        <translation>single</translation>
    </message>
    <message>
        <source>single, %1</source>
        <translation>single，%1</translation>
    </message>
    <message>
        <source>ddp</source>
        <translation>ddp</translation>
    </message>
    <message>
        <source>ddp, %1</source>
        <translation>ddp，%1</translation>
    </message>
    <message>
        <source>verdict</source>
        <translation>结论</translation>
    </message>
    <message>
        <source>effect</source>
        <translation>影响</translation>
    </message>
    <message>
        <source>why</source>
        <translation>原因</translation>
    </message>
    <message>
        <source>how the script deals its samples; the recorded samples decide</source>
        <translation>脚本如何分配样本；以记录的样本为准</translation>
    </message>
</context>
<context>
    <name>lockstep::PreflightPage</name>
    <message>
        <source>Configuration, differing keys</source>
        <translation>配置，不同的键</translation>
    </message>
    <message>
        <source>Keys in which the configurations differ</source>
        <translation>配置不同的键</translation>
    </message>
</context>
<context>
    <name>lockstep::ProjectModel</name>
    <message>
        <source>The project is not in %1 any more. It was moved or deleted, or its disk is not connected; what the window shows is as it was.</source>
        <translation>项目已不在 %1。它被移动或删除，或其磁盘未连接；窗口显示的是此前的内容。</translation>
    </message>
</context>
<context>
    <name>lockstep::Rail</name>
    <message>
        <source>Migration</source>
        <translation>迁移</translation>
    </message>
    <message>
        <source>Pages</source>
        <translation>页面</translation>
    </message>
    <message>
        <source>Project</source>
        <translation>项目</translation>
    </message>
    <message>
        <source>%1 (Alt+%2)</source>
        <translation>%1（Alt+%2）</translation>
    </message>
    <message>
        <source>No project</source>
        <translation>没有项目</translation>
    </message>
    <message>
        <source>new window</source>
        <translation>新窗口</translation>
    </message>
    <message>
        <source>step %1 of %2</source>
        <translation>第 %1 步，共 %2 步</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
</context>
<context>
    <name>lockstep::RanksCellModel</name>
    <message>
        <source>%1, ms</source>
        <translation>%1，ms</translation>
    </message>
    <message>
        <source>no record</source>
        <translation>无记录</translation>
    </message>
    <message>
        <source>%1 of %2 equal</source>
        <translation>%1/%2 相等</translation>
    </message>
    <message>
        <source>stored: %1</source>
        <translation>存储值：%1</translation>
    </message>
    <message numerus="yes">
        <source>median of %n rank(s): %1</source>
        <translation>
            <numerusform>%n 个 rank 的中位数：%1</numerusform>
        </translation>
    </message>
    <message>
        <source>at this step</source>
        <translation>在此步</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>rank</source>
        <translation>rank</translation>
    </message>
    <message>
        <source>median of %1</source>
        <translation>%1 的中位数</translation>
    </message>
    <message>
        <source>median</source>
        <translation>中位数</translation>
    </message>
    <message>
        <source>gradient norm, local</source>
        <translation>梯度范数，本地</translation>
    </message>
    <message>
        <source>gradient norm, reduced</source>
        <translation>梯度范数，归约后</translation>
    </message>
    <message>
        <source>data, ms</source>
        <translation>数据，ms</translation>
    </message>
    <message>
        <source>forward, ms</source>
        <translation>前向，ms</translation>
    </message>
    <message>
        <source>backward, ms</source>
        <translation>反向，ms</translation>
    </message>
    <message>
        <source>optimizer, ms</source>
        <translation>优化器，ms</translation>
    </message>
    <message>
        <source>parameters</source>
        <translation>参数</translation>
    </message>
</context>
<context>
    <name>lockstep::RanksEqualityModel</name>
    <message>
        <source>parameters</source>
        <translation>参数</translation>
    </message>
    <message>
        <source>optimizer state</source>
        <translation>优化器状态</translation>
    </message>
    <message>
        <source>buffers</source>
        <translation>缓冲区</translation>
    </message>
    <message>
        <source>sample ids</source>
        <translation>样本编号</translation>
    </message>
    <message>
        <source>generator state</source>
        <translation>生成器状态</translation>
    </message>
    <message>
        <source>rank %1 has the %2 of rank %3 from step %4</source>
        <translation>rank %1 自第 %4 步起的%2与 rank %3 相同</translation>
    </message>
    <message>
        <source>%1 differ on rank %2 from step %3</source>
        <translation>%1自第 %3 步起在 rank %2 上不同</translation>
    </message>
    <message numerus="yes">
        <source>%n step(s)</source>
        <translation>
            <numerusform>%n 步</numerusform>
        </translation>
    </message>
    <message>
        <source>cannot compare</source>
        <translation>无法比较</translation>
    </message>
    <message numerus="yes">
        <source>recorded by %n rank(s)</source>
        <translation>
            <numerusform>%n 个 rank 有记录</numerusform>
        </translation>
    </message>
    <message>
        <source>no common step yet</source>
        <translation>尚无共同的步</translation>
    </message>
    <message>
        <source>differ</source>
        <translation>不同</translation>
    </message>
    <message>
        <source>repeat</source>
        <translation>重复</translation>
    </message>
    <message>
        <source>rank %1, step %2</source>
        <translation>rank %1，第 %2 步</translation>
    </message>
    <message>
        <source>rank %1 as %2, step %3</source>
        <translation>rank %1 与 %2 相同，第 %3 步</translation>
    </message>
    <message>
        <source>equal</source>
        <translation>相等</translation>
    </message>
    <message>
        <source>%1 distinct</source>
        <translation>%1 个互异</translation>
    </message>
    <message>
        <source>not all equal</source>
        <translation>不全相等</translation>
    </message>
    <message>
        <source>from step %1</source>
        <translation>自第 %1 步</translation>
    </message>
    <message>
        <source>Running values of BatchNorm are each rank&apos;s own between two steps.</source>
        <translation>BatchNorm 的滑动统计量在两步之间由各 rank 自行维护。</translation>
    </message>
    <message>
        <source>what</source>
        <translation>项目</translation>
    </message>
    <message>
        <source>on all ranks</source>
        <translation>所有 rank</translation>
    </message>
    <message>
        <source>where</source>
        <translation>位置</translation>
    </message>
    <message>
        <source>%1 differ on %2 of %3 ranks from step %4</source>
        <translation>%1自第 %4 步起在 %3 个 rank 中的 %2 个上不同</translation>
    </message>
    <message>
        <source>Each rank must train on samples of its own. Check the sampler: number of replicas, rank, seed.</source>
        <translation>每个 rank 必须训练各自的样本。请检查采样器：副本数、rank、种子。</translation>
    </message>
    <message>
        <source>Every rank must hold the same optimizer state. Check what is stepped or loaded on one rank only.</source>
        <translation>每个 rank 的优化器状态必须相同。请检查哪些步进或加载只在一个 rank 上进行。</translation>
    </message>
    <message>
        <source>Every rank must start from the same parameters. Check seeds, loading, and that DDP wraps the model before training.</source>
        <translation>每个 rank 必须从相同参数开始。请检查种子、加载，以及训练前是否用 DDP 包装模型。</translation>
    </message>
    <message>
        <source>Every rank must hold the same parameters after every step. Check what one rank changes or skips outside the reduction.</source>
        <translation>每步之后所有 rank 的参数必须相同。请检查某个 rank 在归约之外更改或跳过了什么。</translation>
    </message>
    <message>
        <source>%1 ranks, step %2</source>
        <translation>%1 个 rank，第 %2 步</translation>
    </message>
</context>
<context>
    <name>lockstep::RanksPage</name>
    <message numerus="yes">
        <source>no cell of %n rank(s) beyond limit %1</source>
        <translation>
            <numerusform>%n 个 rank 中没有超出限值 %1 的格</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>rank %1 is beyond limit %2 in %n step(s), first in step %3</source>
        <translation>
            <numerusform>rank %1 有 %n 步超出限值 %2，首次在第 %3 步</numerusform>
        </translation>
    </message>
    <message>
        <source>%1 of %2 ranks go beyond limit %3, the first is rank %4 in step %5</source>
        <translation>%2 个 rank 中 %1 个超出限值 %3，最早为 rank %4，第 %5 步</translation>
    </message>
    <message>
        <source>Not a finite number: it has no distance to the median.</source>
        <translation>非有限数：与中位数没有距离。</translation>
    </message>
    <message>
        <source>%1 robust sd below the median of the ranks, limit %2.</source>
        <translation>低于各 rank 中位数 %1 个稳健标准差，限值 %2。</translation>
    </message>
    <message>
        <source>%1 robust sd above the median of the ranks, limit %2.</source>
        <translation>高于各 rank 中位数 %1 个稳健标准差，限值 %2。</translation>
    </message>
    <message>
        <source>rank %1</source>
        <translation>rank %1</translation>
    </message>
    <message>
        <source>Ranks</source>
        <translation>各 rank</translation>
    </message>
    <message>
        <source>Run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>Quantity</source>
        <translation>量</translation>
    </message>
    <message>
        <source>quantity</source>
        <translation>量</translation>
    </message>
    <message>
        <source>Save picture</source>
        <translation>保存图片</translation>
    </message>
    <message>
        <source>%1 is not recorded in this run.</source>
        <translation>此运行没有记录%1。</translation>
    </message>
    <message>
        <source>No run with several ranks yet. Start a ddp run.</source>
        <translation>还没有多 rank 的运行。请启动一个 ddp 运行。</translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s)</source>
        <translation>
            <numerusform>%n 个 rank</numerusform>
        </translation>
    </message>
    <message>
        <source>No record</source>
        <translation>无记录</translation>
    </message>
    <message>
        <source>This rank recorded no %1 at this step.</source>
        <translation>此 rank 在该步没有记录%1。</translation>
    </message>
    <message>
        <source>%1 %2</source>
        <translation>%1 %2</translation>
    </message>
    <message>
        <source>No rank leaves the others</source>
        <translation>没有 rank 偏离其他 rank</translation>
    </message>
    <message>
        <source>Show step %1</source>
        <translation>显示第 %1 步</translation>
    </message>
    <message>
        <source>Below the other rank by %1 robust sd of what both move by per step, limit %2.</source>
        <translation>低于另一 rank %1 个稳健标准差（以两者逐步变动计），限值 %2。</translation>
    </message>
    <message>
        <source>Above the other rank by %1 robust sd of what both move by per step, limit %2.</source>
        <translation>高于另一 rank %1 个稳健标准差（以两者逐步变动计），限值 %2。</translation>
    </message>
</context>
<context>
    <name>lockstep::RanksPanel</name>
    <message>
        <source>This step in Curves</source>
        <translation>在曲线页查看此步</translation>
    </message>
    <message>
        <source>Hide the panel (F4)</source>
        <translation>隐藏面板（F4）</translation>
    </message>
    <message>
        <source>Hide the panel</source>
        <translation>隐藏面板</translation>
    </message>
    <message>
        <source>pinned</source>
        <translation>已固定</translation>
    </message>
    <message>
        <source>Values of the cell</source>
        <translation>格中的值</translation>
    </message>
    <message>
        <source>Equal on all ranks</source>
        <translation>所有 rank 上相等</translation>
    </message>
    <message>
        <source>Arrow keys move the cell, Enter pins it, Home goes to the first cell beyond the limit.</source>
        <translation>方向键移动格，Enter 固定，Home 跳到首个超出限值的格。</translation>
    </message>
    <message>
        <source>Cell: rank %1, step %2</source>
        <translation>格：rank %1，第 %2 步</translation>
    </message>
    <message>
        <source>Cell</source>
        <translation>格</translation>
    </message>
    <message>
        <source>Point at a cell to see its exact values.</source>
        <translation>指向某格以查看其精确值。</translation>
    </message>
    <message>
        <source>Equal on all %1 ranks?</source>
        <translation>%1 个 rank 是否全部相等？</translation>
    </message>
    <message>
        <source>Equal on all ranks?</source>
        <translation>所有 rank 是否相等？</translation>
    </message>
</context>
<context>
    <name>lockstep::RanksPlots</name>
    <message>
        <source>Rank by step</source>
        <translation>rank 与步</translation>
    </message>
    <message>
        <source>robust sd</source>
        <translation>稳健标准差</translation>
    </message>
    <message>
        <source>Shown once two ranks have a step in common.</source>
        <translation>两个 rank 有共同的步后显示。</translation>
    </message>
    <message>
        <source>step</source>
        <translation>步</translation>
    </message>
    <message>
        <source>%1, spread over ranks (max - min)</source>
        <translation>%1，各 rank 极差（最大 - 最小）</translation>
    </message>
    <message>
        <source>spread</source>
        <translation>范围</translation>
    </message>
    <message>
        <source>One rank against the others</source>
        <translation>单个 rank 与其他 rank 对比</translation>
    </message>
    <message>
        <source>median of %1</source>
        <translation>%1 的中位数</translation>
    </message>
    <message>
        <source>%1: rank %2 against median and range of the others</source>
        <translation>%1：rank %2 与其他 rank 的中位数和范围对比</translation>
    </message>
    <message>
        <source>%1: rank %2 against the other rank</source>
        <translation>%1：rank %2 与另一 rank 对比</translation>
    </message>
    <message>
        <source>%1: rank %2, the only one that recorded it</source>
        <translation>%1：rank %2，唯一有记录的 rank</translation>
    </message>
    <message>
        <source>Rank by step, against step-to-step noise</source>
        <translation>各 rank 逐步，与逐步噪声相比</translation>
    </message>
</context>
<context>
    <name>lockstep::RepairWriter</name>
    <message>
        <source>lockstep-cli was not found. It writes the copy and should stand beside this program. Install it there or set LOCKSTEP_CLI.</source>
        <translation>找不到 lockstep-cli。副本由它写入，它应与本程序在同一目录。请安装到该处或设置 LOCKSTEP_CLI。</translation>
    </message>
    <message>
        <source>The program that writes the copy ended with code %1.</source>
        <translation>写入副本的程序以代码 %1 结束。</translation>
    </message>
    <message>
        <source>%1 could not be started. It is not an executable program.</source>
        <translation>无法启动 %1。它不是可执行程序。</translation>
    </message>
</context>
<context>
    <name>lockstep::ReportPage</name>
    <message>
        <source>Report</source>
        <translation>报告</translation>
    </message>
    <message>
        <source>Checks of all gates</source>
        <translation>所有关卡的检查</translation>
    </message>
    <message>
        <source>No gate was judged yet. Each judged gate adds its checks with number and limit.</source>
        <translation>尚未判定任何关卡。每个已判定的关卡会在此列出检查、数值和限值。</translation>
    </message>
    <message>
        <source>Copy as Markdown</source>
        <translation>复制为 Markdown</translation>
    </message>
    <message>
        <source>Gates</source>
        <translation>关卡</translation>
    </message>
    <message>
        <source>The report is on the clipboard</source>
        <translation>报告已复制到剪贴板</translation>
    </message>
    <message>
        <source>Overridden: %1</source>
        <translation>已豁免：%1</translation>
    </message>
    <message>
        <source>check</source>
        <translation>检查</translation>
    </message>
    <message>
        <source>verdict</source>
        <translation>判定</translation>
    </message>
    <message>
        <source>number</source>
        <translation>数值</translation>
    </message>
    <message>
        <source>limit</source>
        <translation>限值</translation>
    </message>
    <message>
        <source>Save report</source>
        <translation>保存报告</translation>
    </message>
    <message>
        <source>One HTML file</source>
        <translation>单个 HTML 文件</translation>
    </message>
    <message>
        <source>Markdown</source>
        <translation>Markdown</translation>
    </message>
    <message>
        <source>JSON</source>
        <translation>JSON</translation>
    </message>
    <message>
        <source>JUnit XML, for CI</source>
        <translation>JUnit XML，用于 CI</translation>
    </message>
    <message>
        <source>Saved %1</source>
        <translation>已保存 %1</translation>
    </message>
    <message>
        <source>The report was not written</source>
        <translation>未写入报告</translation>
    </message>
    <message>
        <source>Save the report</source>
        <translation>保存报告</translation>
    </message>
    <message>
        <source>Findings</source>
        <translation>诊断</translation>
    </message>
    <message numerus="yes">
        <source>%n gate(s) were overridden</source>
        <translation>
            <numerusform>%n 关被豁免</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n more in Findings</source>
        <translation>
            <numerusform>诊断页中还有 %n 条</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::RunChipBar</name>
    <message>
        <source>Add run</source>
        <translation>添加运行</translation>
    </message>
    <message>
        <source>%1, %2 ranks</source>
        <translation>%1，%2 个 rank</translation>
    </message>
    <message>
        <source>Take %1 off</source>
        <translation>移除 %1</translation>
    </message>
    <message>
        <source>No further runs</source>
        <translation>没有其他运行</translation>
    </message>
</context>
<context>
    <name>lockstep::RunConfigDiffModel</name>
    <message>
        <source>equal</source>
        <translation>相等</translation>
    </message>
    <message>
        <source>changes the maths</source>
        <translation>改变计算</translation>
    </message>
    <message>
        <source>global batch %1 = %2 in A, %3 = %4 in B</source>
        <translation>全局批大小：A 为 %1 = %2，B 为 %3 = %4</translation>
    </message>
    <message>
        <source>declared</source>
        <translation>已声明</translation>
    </message>
    <message>
        <source>%1 = %2, global batch equal</source>
        <translation>%1 = %2，全局批大小相等</translation>
    </message>
    <message>
        <source>the migration itself</source>
        <translation>迁移本身</translation>
    </message>
    <message>
        <source>order of addition</source>
        <translation>求和顺序</translation>
    </message>
    <message>
        <source>another sample order: compare by sample, not by step</source>
        <translation>样本顺序不同：请按样本比较，不要按步</translation>
    </message>
    <message>
        <source>one of the runs started from a checkpoint</source>
        <translation>其中一次运行从检查点开始</translation>
    </message>
    <message>
        <source>another device rounds differently</source>
        <translation>不同设备的舍入不同</translation>
    </message>
    <message>
        <source>the number of threads changes the order of sums</source>
        <translation>线程数会改变求和顺序</translation>
    </message>
    <message>
        <source>how the gradients travel, not what they are</source>
        <translation>只影响梯度如何传递，不影响其值</translation>
    </message>
    <message>
        <source>no effect</source>
        <translation>无影响</translation>
    </message>
    <message>
        <source>changes what is written down, not what is computed</source>
        <translation>只改变记录内容，不改变计算</translation>
    </message>
    <message>
        <source>a fault was switched on deliberately</source>
        <translation>有意开启了故障</translation>
    </message>
    <message>
        <source>one run is longer; schedules may end elsewhere</source>
        <translation>其中一次运行更长；调度可能在别处结束</translation>
    </message>
    <message>
        <source>other initial values and dropout masks</source>
        <translation>初始值和 dropout 掩码不同</translation>
    </message>
    <message>
        <source>another sample order</source>
        <translation>样本顺序不同</translation>
    </message>
    <message>
        <source>every update is scaled by it</source>
        <translation>每次更新都按它缩放</translation>
    </message>
    <message>
        <source>Maths</source>
        <translation>计算</translation>
    </message>
    <message>
        <source>Launch</source>
        <translation>启动</translation>
    </message>
    <message>
        <source>Engine</source>
        <translation>引擎</translation>
    </message>
    <message>
        <source>Recording</source>
        <translation>记录</translation>
    </message>
    <message>
        <source>%1 keys: %2 equal, %3 differ</source>
        <translation>%1 个键：%2 个相等，%3 个不同</translation>
    </message>
    <message>
        <source>key</source>
        <translation>键</translation>
    </message>
    <message>
        <source>effect</source>
        <translation>影响</translation>
    </message>
    <message>
        <source>why</source>
        <translation>原因</translation>
    </message>
    <message>
        <source>%1, %2 of %3 keys differ</source>
        <translation>%1，%3 个键中 %2 个不同</translation>
    </message>
    <message>
        <source>how the script deals its samples; the recorded samples decide</source>
        <translation>脚本如何分配样本；以记录的样本为准</translation>
    </message>
</context>
<context>
    <name>lockstep::RunRemoval</name>
    <message>
        <source>delete %1</source>
        <translation>删除 %1</translation>
    </message>
</context>
<context>
    <name>lockstep::RunStrip</name>
    <message>
        <source>Runs of this gate</source>
        <translation>此关卡的运行</translation>
    </message>
</context>
<context>
    <name>lockstep::RunsModel</name>
    <message>
        <source>stopped</source>
        <translation>已停止</translation>
    </message>
    <message>
        <source>interrupted</source>
        <translation>已中断</translation>
    </message>
    <message>
        <source>finished</source>
        <translation>完成</translation>
    </message>
    <message>
        <source>%1 / %2</source>
        <translation>%1 / %2</translation>
    </message>
    <message>
        <source>none</source>
        <translation>无</translation>
    </message>
    <message>
        <source>state</source>
        <translation>状态</translation>
    </message>
    <message>
        <source>run</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>mode</source>
        <translation>模式</translation>
    </message>
    <message>
        <source>world</source>
        <translation>world</translation>
    </message>
    <message>
        <source>backend</source>
        <translation>后端</translation>
    </message>
    <message>
        <source>steps</source>
        <translation>步数</translation>
    </message>
    <message>
        <source>last loss</source>
        <translation>末步损失</translation>
    </message>
    <message>
        <source>diverges at</source>
        <translation>偏离于</translation>
    </message>
    <message>
        <source>against reference</source>
        <translation>与参照对比</translation>
    </message>
    <message>
        <source>time</source>
        <translation>用时</translation>
    </message>
    <message>
        <source>started</source>
        <translation>开始</translation>
    </message>
    <message>
        <source>config</source>
        <translation>配置</translation>
    </message>
    <message>
        <source>%1 on rank 0, on its own samples</source>
        <translation>%1，rank 0，其自己的样本</translation>
    </message>
</context>
<context>
    <name>lockstep::RunsPage</name>
    <message>
        <source>Runs</source>
        <translation>运行</translation>
    </message>
    <message>
        <source>New run</source>
        <translation>新运行</translation>
    </message>
    <message>
        <source>New run (F5)</source>
        <translation>新运行（F5）</translation>
    </message>
    <message>
        <source>Compare A and B</source>
        <translation>比较 A 和 B</translation>
    </message>
    <message>
        <source>Filter runs</source>
        <translation>筛选运行</translation>
    </message>
    <message>
        <source>Stop</source>
        <translation>停止</translation>
    </message>
    <message>
        <source>Finish the step, save a checkpoint, end</source>
        <translation>完成当前步，保存检查点，结束</translation>
    </message>
    <message>
        <source>Run again</source>
        <translation>再次运行</translation>
    </message>
    <message>
        <source>Delete</source>
        <translation>删除</translation>
    </message>
    <message>
        <source>Delete (Del); Ctrl+Z takes it back</source>
        <translation>删除（Del）；Ctrl+Z 撤销</translation>
    </message>
    <message>
        <source>Space marks A, Shift+Space marks B, Enter opens, Del deletes with undo</source>
        <translation>空格标记 A，Shift+空格标记 B，Enter 打开，Del 删除可撤销</translation>
    </message>
    <message numerus="yes">
        <source>%n run(s)</source>
        <translation>
            <numerusform>共 %n 次运行</numerusform>
        </translation>
    </message>
    <message numerus="yes">
        <source>%n marked</source>
        <translation>
            <numerusform>已标记 %n 个</numerusform>
        </translation>
    </message>
    <message>
        <source>No runs to show. F5 starts one.</source>
        <translation>没有可显示的运行。按 F5 开始一个。</translation>
    </message>
    <message>
        <source>Runs that gates, drills and proofs started for themselves</source>
        <translation>关卡、演练和证明为自身启动的运行</translation>
    </message>
    <message>
        <source>Show runs of gates and drills (%1)</source>
        <translation>显示关卡与演练的运行（%1）</translation>
    </message>
    <message>
        <source>No runs of your own yet. F5 starts one.</source>
        <translation>还没有您自己的运行。按 F5 启动一个。</translation>
    </message>
    <message numerus="yes">
        <source>%n of gates and drills</source>
        <translation>
            <numerusform>关卡与演练 %n 个</numerusform>
        </translation>
    </message>
</context>
<context>
    <name>lockstep::ScriptPanel</name>
    <message>
        <source>Use my script</source>
        <translation>使用我的脚本</translation>
    </message>
    <message>
        <source>Built-in workload</source>
        <translation>内置工作负载</translation>
    </message>
    <message>
        <source>Close (Esc)</source>
        <translation>关闭（Esc）</translation>
    </message>
    <message>
        <source>Close the form</source>
        <translation>关闭表单</translation>
    </message>
    <message>
        <source>the folder from which you start it</source>
        <translation>启动脚本时所在的文件夹</translation>
    </message>
    <message>
        <source>working folder</source>
        <translation>工作文件夹</translation>
    </message>
    <message>
        <source>Choose the working folder</source>
        <translation>选择工作文件夹</translation>
    </message>
    <message>
        <source>interpreter</source>
        <translation>解释器</translation>
    </message>
    <message>
        <source>Choose the interpreter</source>
        <translation>选择解释器</translation>
    </message>
    <message>
        <source>command, one process</source>
        <translation>命令，单进程</translation>
    </message>
    <message>
        <source>Choose the script</source>
        <translation>选择脚本</translation>
    </message>
    <message>
        <source>command, several ranks</source>
        <translation>命令，多个 rank</translation>
    </message>
    <message>
        <source>Choose the script for several ranks</source>
        <translation>选择多 rank 的脚本</translation>
    </message>
    <message>
        <source>as the command says</source>
        <translation>由命令决定</translation>
    </message>
    <message>
        <source>ranks</source>
        <translation>rank 数</translation>
    </message>
    <message>
        <source>none; for example loss=([0-9.]+)</source>
        <translation>无；例如 loss=([0-9.]+)</translation>
    </message>
    <message>
        <source>pattern of the printed loss</source>
        <translation>打印损失的匹配模式</translation>
    </message>
    <message>
        <source>What will run</source>
        <translation>将要运行的命令</translation>
    </message>
    <message>
        <source>Run both</source>
        <translation>运行两者</translation>
    </message>
    <message>
        <source>Python (*.py);;All files (*)</source>
        <translation>Python (*.py);;所有文件 (*)</translation>
    </message>
    <message>
        <source>Python %1, torch %2</source>
        <translation>Python %1，torch %2</translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s)</source>
        <translation>
            <numerusform>%n 个 rank</numerusform>
        </translation>
    </message>
    <message>
        <source>Run one process, then several ranks</source>
        <translation>先运行单进程，再运行多个 rank</translation>
    </message>
    <message>
        <source>Run one process</source>
        <translation>运行单进程</translation>
    </message>
    <message>
        <source>Run several ranks</source>
        <translation>运行多个 rank</translation>
    </message>
    <message>
        <source>This project is read-only</source>
        <translation>此项目为只读</translation>
    </message>
    <message>
        <source>Nothing can be started here.</source>
        <translation>此处无法启动任何运行。</translation>
    </message>
    <message>
        <source>asking for its torch</source>
        <translation>正在查询其 torch</translation>
    </message>
    <message>
        <source>Ask it for its torch</source>
        <translation>查询它的 torch</translation>
    </message>
    <message>
        <source>The project names it. It was not started yet.</source>
        <translation>由项目指定，尚未启动过。</translation>
    </message>
</context>
<context>
    <name>lockstep::ScriptRunsView</name>
    <message>
        <source>Runs of the script</source>
        <translation>脚本的运行</translation>
    </message>
    <message>
        <source>Open in Curves</source>
        <translation>在曲线页打开</translation>
    </message>
    <message>
        <source>Find causes</source>
        <translation>查找原因</translation>
    </message>
    <message numerus="yes">
        <source>%n rank(s)</source>
        <translation>
            <numerusform>%n 个 rank</numerusform>
        </translation>
    </message>
    <message>
        <source>one process</source>
        <translation>单进程</translation>
    </message>
    <message>
        <source>not started</source>
        <translation>未启动</translation>
    </message>
    <message>
        <source>waiting</source>
        <translation>等待</translation>
    </message>
    <message>
        <source>step %1</source>
        <translation>第 %1 步</translation>
    </message>
</context>
<context>
    <name>lockstep::ScriptSetup</name>
    <message>
        <source>A quotation mark is not closed. Write &quot;...&quot; around words with spaces.</source>
        <translation>引号没有闭合。请用 &quot;...&quot; 括住带空格的词。</translation>
    </message>
    <message>
        <source>%1 is no program. Write env %1 before the command to set a variable.</source>
        <translation>%1 不是程序。要设置变量，请在命令前写 env %1。</translation>
    </message>
    <message>
        <source>%1 was not found beside the interpreter nor in PATH. Write its whole path.</source>
        <translation>在解释器旁和 PATH 中都找不到 %1。请写出完整路径。</translation>
    </message>
    <message>
        <source>No script is named. Write for example python train.py, or python -m package.module.</source>
        <translation>没有指定脚本。例如 python train.py，或 python -m package.module。</translation>
    </message>
    <message>
        <source>No module is named after -m. Write for example python -m package.module.</source>
        <translation>-m 之后没有模块名。例如 python -m package.module。</translation>
    </message>
    <message>
        <source>%1 is not in %2. Write its path from the working folder.</source>
        <translation>%2 中没有 %1。请写出相对于工作文件夹的路径。</translation>
    </message>
    <message>
        <source>No folder is chosen. Choose the one from which you start the script.</source>
        <translation>未选择文件夹。请选择启动脚本时所在的文件夹。</translation>
    </message>
    <message>
        <source>There is no folder %1. Choose the one from which you start the script.</source>
        <translation>文件夹 %1 不存在。请选择启动脚本时所在的文件夹。</translation>
    </message>
    <message>
        <source>No interpreter is chosen. Choose the Python that has your torch.</source>
        <translation>未选择解释器。请选择装有 torch 的 Python。</translation>
    </message>
    <message>
        <source>%1 is no program. Choose the Python that has your torch, for example .venv/bin/python.</source>
        <translation>%1 不是程序。请选择装有 torch 的 Python，例如 .venv/bin/python。</translation>
    </message>
    <message>
        <source>The pattern cannot be read: %1. Write for example loss=([0-9.]+).</source>
        <translation>无法解析该模式：%1。例如 loss=([0-9.]+)。</translation>
    </message>
    <message>
        <source>No part of the pattern is in parentheses. Put them around the number: loss=([0-9.]+).</source>
        <translation>模式中没有括号。请用括号括住数字：loss=([0-9.]+)。</translation>
    </message>
    <message>
        <source>No command is given. Write for example python train.py.</source>
        <translation>没有给出命令。例如 python train.py。</translation>
    </message>
    <message>
        <source>This command starts several ranks. Write the one for one process here, the other below.</source>
        <translation>此命令会启动多个 rank。这里请写单进程的命令，另一个写在下面。</translation>
    </message>
    <message>
        <source>The command does not say how many ranks it starts. Say it with --nproc-per-node or in the field for ranks.</source>
        <translation>命令没有说明启动多少个 rank。请用 --nproc-per-node 或在 rank 数一栏中指定。</translation>
    </message>
    <message>
        <source>The command starts one rank. Write for example torchrun --nproc-per-node 2 %1.</source>
        <translation>命令只启动一个 rank。例如 torchrun --nproc-per-node 2 %1。</translation>
    </message>
    <message>
        <source>%1 ranks are too many, the most are %2.</source>
        <translation>%1 个 rank 过多，最多 %2 个。</translation>
    </message>
</context>
<context>
    <name>lockstep::StartPage</name>
    <message>
        <source>Move a training from one process to many, gate by gate</source>
        <translation>逐关将训练从单进程迁移到多进程</translation>
    </message>
    <message>
        <source>Lockstep runs both, records every step, and names the first step where they part and why.</source>
        <translation>Lockstep 同时运行二者，记录每一步，并指出首个偏离的步及其原因。</translation>
    </message>
    <message>
        <source>Recent projects</source>
        <translation>最近的项目</translation>
    </message>
    <message>
        <source>Drop a project folder or a checkpoint</source>
        <translation>拖入项目文件夹或检查点</translation>
    </message>
    <message>
        <source>project</source>
        <translation>项目</translation>
    </message>
    <message>
        <source>folder with lockstep.db, also read-only</source>
        <translation>含 lockstep.db 的文件夹，只读亦可</translation>
    </message>
    <message>
        <source>checkpoint</source>
        <translation>检查点</translation>
    </message>
    <message>
        <source>.pt, .pth or .safetensors; nothing in it is executed</source>
        <translation>.pt、.pth 或 .safetensors；其中任何内容都不会被执行</translation>
    </message>
    <message>
        <source>Open folder</source>
        <translation>打开文件夹</translation>
    </message>
    <message>
        <source>Start with a built-in workload</source>
        <translation>从内置工作负载开始</translation>
    </message>
    <message>
        <source>No script and no GPU needed: one process against several ranks on this machine.</source>
        <translation>无需脚本和 GPU：在本机上对比单进程与多个 rank。</translation>
    </message>
    <message>
        <source>Workloads</source>
        <translation>工作负载</translation>
    </message>
    <message>
        <source>ranks</source>
        <translation>rank 数</translation>
    </message>
    <message>
        <source>Folder of the new project</source>
        <translation>新项目的文件夹</translation>
    </message>
    <message>
        <source>folder</source>
        <translation>文件夹</translation>
    </message>
    <message>
        <source>Start %1</source>
        <translation>开始 %1</translation>
    </message>
    <message>
        <source>Runs started in a terminal show up live in an open project.</source>
        <translation>终端中启动的运行会实时出现在打开的项目中。</translation>
    </message>
    <message>
        <source>A new project</source>
        <translation>新项目</translation>
    </message>
    <message>
        <source>One process</source>
        <translation>单进程</translation>
    </message>
    <message>
        <source>Two ranks</source>
        <translation>两个 rank</translation>
    </message>
    <message>
        <source>None yet. Projects you open are listed here.</source>
        <translation>还没有。打开过的项目会列在这里。</translation>
    </message>
    <message>
        <source>engine: lockstep-worker</source>
        <translation>引擎：lockstep-worker</translation>
    </message>
    <message>
        <source>no engine: runs can be read, not started</source>
        <translation>没有引擎：可以读取运行，不能启动</translation>
    </message>
    <message numerus="yes">
        <source>%n core(s)</source>
        <translation>
            <numerusform>%n 个核</numerusform>
        </translation>
    </message>
    <message>
        <source>Gloo on loopback</source>
        <translation>回环接口上的 Gloo</translation>
    </message>
    <message>
        <source>GPU found</source>
        <translation>找到 GPU</translation>
    </message>
    <message>
        <source>no GPU: NCCL is not offered</source>
        <translation>没有 GPU：不提供 NCCL</translation>
    </message>
    <message>
        <source>Your own script, or from a terminal</source>
        <translation>您自己的脚本，或从终端开始</translation>
    </message>
    <message>
        <source>Use my script</source>
        <translation>使用我的脚本</translation>
    </message>
    <message>
        <source>Your training script runs as it is: one process, then several ranks. Makes a project %1.</source>
        <translation>训练脚本无需改动即可运行：先单进程，再多个 rank。将创建项目 %1。</translation>
    </message>
</context>
<context>
    <name>lockstep::TensorHeat</name>
    <message>
        <source>Heat map of the values</source>
        <translation>数值热图</translation>
    </message>
    <message>
        <source>%1 rows, %2 columns, largest absolute value %3</source>
        <translation>%1 行，%2 列，最大绝对值 %3</translation>
    </message>
    <message>
        <source>heat map, largest |value|</source>
        <translation>热图，最大 |值|</translation>
    </message>
    <message>
        <source>%1 x %2</source>
        <translation>%1 x %2</translation>
    </message>
    <message>
        <source>0 to %1</source>
        <translation>0 到 %1</translation>
    </message>
    <message>
        <source>rows %1, columns %2: %3</source>
        <translation>行 %1，列 %2：%3</translation>
    </message>
    <message>
        <source>not finite</source>
        <translation>非有限</translation>
    </message>
</context>
<context>
    <name>lockstep::TensorHistogram</name>
    <message>
        <source>Histogram of the values</source>
        <translation>数值直方图</translation>
    </message>
    <message>
        <source>No finite value</source>
        <translation>没有有限值</translation>
    </message>
    <message>
        <source>From %1 to %2, %3 NaN, %4 infinite</source>
        <translation>从 %1 到 %2，%3 个 NaN，%4 个无穷</translation>
    </message>
    <message>
        <source>histogram</source>
        <translation>直方图</translation>
    </message>
    <message>
        <source>%1 NaN, %2 infinite</source>
        <translation>%1 个 NaN，%2 个无穷</translation>
    </message>
    <message>
        <source>%1 to %2: %3 values</source>
        <translation>%1 到 %2：%3 个值</translation>
    </message>
</context>
<context>
    <name>lockstep::TensorView</name>
    <message>
        <source>Values of %1 are not shown.</source>
        <translation>不显示 %1 类型的值。</translation>
    </message>
    <message>
        <source>There are no bytes of its own to show.</source>
        <translation>没有可显示的自有字节。</translation>
    </message>
    <message>
        <source>The tensor has no elements.</source>
        <translation>该张量没有元素。</translation>
    </message>
</context>
<context>
    <name>lockstep::TrainedGatePage</name>
    <message>
        <source>Runs of this gate</source>
        <translation>此关卡的运行</translation>
    </message>
    <message>
        <source>AMP and clipping are forced off</source>
        <translation>AMP 与裁剪已强制关闭</translation>
    </message>
    <message>
        <source>AMP and clipping are on; saved half-way, then resumed</source>
        <translation>AMP 与裁剪开启；中途保存并恢复</translation>
    </message>
    <message>
        <source>Twin against the run</source>
        <translation>孪生与运行</translation>
    </message>
    <message>
        <source>Unused parameters</source>
        <translation>未使用的参数</translation>
    </message>
    <message>
        <source>Reduction of the loss</source>
        <translation>损失的归约</translation>
    </message>
    <message>
        <source>Resumed run against the whole one</source>
        <translation>恢复运行与完整运行</translation>
    </message>
    <message>
        <source>Checkpoint in Python</source>
        <translation>用 Python 打开检查点</translation>
    </message>
    <message>
        <source>Keys with a wrapper&apos;s prefix</source>
        <translation>带包装前缀的键</translation>
    </message>
    <message>
        <source>Show step %1 in Curves</source>
        <translation>在曲线页显示第 %1 步</translation>
    </message>
    <message>
        <source>No check names a bad step</source>
        <translation>没有检查指出出错的步</translation>
    </message>
</context>
<context>
    <name>lockstep::WorkloadsModel</name>
    <message>
        <source>128-64-10 network, 1,000 samples</source>
        <translation>128-64-10 网络，1,000 个样本</translation>
    </message>
    <message>
        <source>loss scale, set_epoch</source>
        <translation>损失缩放、set_epoch</translation>
    </message>
    <message>
        <source>BatchNorm and dropout, 8x8 digits</source>
        <translation>BatchNorm 和 dropout，8x8 数字</translation>
    </message>
    <message>
        <source>BatchNorm, RNG streams</source>
        <translation>BatchNorm、随机数流</translation>
    </message>
    <message>
        <source>small transformer, tied embedding</source>
        <translation>小型 transformer，共享嵌入</translation>
    </message>
    <message>
        <source>accumulation, token weights</source>
        <translation>梯度累积、token 权重</translation>
    </message>
    <message>
        <source>workload</source>
        <translation>工作负载</translation>
    </message>
    <message>
        <source>shows faults in</source>
        <translation>可展示的故障</translation>
    </message>
</context>
</TS>
