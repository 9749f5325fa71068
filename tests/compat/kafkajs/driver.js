// kafkajs, driven by JSON lines on standard input.
//
//     {"verb": "read", "topic": "t", ...}  ->  {"answer": ...} | {"refused": 36, "message": ...} | {"failed": ...}
//
// kafkajs compresses gzip itself; the other codecs are plugged in, as its documentation says.
// Its consumer cannot be assigned a partition without a group, so reads call the fetch that its
// consumer is built on: the same request and the same decoding, below the group.

const path = require('path')
const readline = require('readline')
const modules = process.argv[3]
const load = name => require(path.join(modules, name))

const { Kafka, CompressionTypes, CompressionCodecs, KafkaJSProtocolError, logLevel } = load('kafkajs')
const Cluster = load('kafkajs/src/cluster')
const defaultSocketFactory = load('kafkajs/src/network/socketFactory')
const { createLogger } = load('kafkajs/src/loggers')
const LoggerConsole = load('kafkajs/src/loggers/console')
const lz4 = load('lz4-napi')

const TOPIC = 2 // resource type of the configuration requests

const codecs = {
  none: CompressionTypes.None,
  gzip: CompressionTypes.GZIP,
  snappy: CompressionTypes.Snappy,
  lz4: CompressionTypes.LZ4,
  zstd: CompressionTypes.ZSTD,
}

CompressionCodecs[CompressionTypes.Snappy] = load('kafkajs-snappy')
CompressionCodecs[CompressionTypes.LZ4] = () => ({
  compress: encoder => lz4.compressFrame(encoder.buffer),
  decompress: data => lz4.decompressFrame(data),
})

const zstdReady = new Promise(resolve => load('zstd-codec').ZstdCodec.run(zstd => resolve(new zstd.Streaming())))
CompressionCodecs[CompressionTypes.ZSTD] = () => ({
  compress: async encoder => Buffer.from((await zstdReady).compress(encoder.buffer)),
  decompress: async data => Buffer.from((await zstdReady).decompress(data)),
})

const brokers = [process.argv[2]]
const kafka = new Kafka({ brokers, clientId: 'compat', logLevel: logLevel.NOTHING, retry: { retries: 3 } })
const admin = kafka.admin()
const cluster = new Cluster({
  brokers,
  clientId: 'compat',
  logger: createLogger({ level: logLevel.NOTHING, logCreator: LoggerConsole }),
  socketFactory: defaultSocketFactory(),
  offsets: new Map(),
  metadataMaxAge: 300000,
  connectionTimeout: 3000,
  requestTimeout: 30000,
  enforceRequestTimeout: true,
})

const packed = data => (data === null || data === undefined ? null : Buffer.from(data).toString('base64'))
const unpacked = text => (text === null ? null : Buffer.from(text, 'base64'))

const headersFrom = pairs => {
  const headers = {}
  for (const [name, value] of pairs) (headers[name] = headers[name] || []).push(unpacked(value))
  return headers
}
const pairsFrom = headers =>
  Object.entries(headers).flatMap(([name, value]) => [].concat(value).map(each => [name, packed(each)]))

const message = (record, partition) => ({
  partition,
  key: unpacked(record.key),
  value: unpacked(record.value),
  headers: headersFrom(record.headers),
  timestamp: String(record.timestamp_ms),
})

const row = read => ({
  offset: Number(read.offset),
  timestamp_ms: Number(read.timestamp),
  key: packed(read.key),
  value: packed(read.value),
  headers: pairsFrom(read.headers),
})

const resource = (topic, more) => ({ type: TOPIC, name: topic, ...more })
const ofPartition = (rows, partition) => rows.find(each => each.partition === partition)

const verbs = {
  async create_topic({ topic, partitions, configs }) {
    const configEntries = Object.entries(configs).map(([name, value]) => ({ name, value }))
    const created = await admin.createTopics({
      topics: [{ topic, numPartitions: partitions, replicationFactor: 1, configEntries }],
    })
    // kafkajs answers false, not an error, where the topic is there already.
    if (!created) throw Object.assign(new Error('exists'), { refusedCode: 36 })
  },
  delete_topic: ({ topic }) => admin.deleteTopics({ topics: [topic] }),
  add_partitions: ({ topic, total }) => admin.createPartitions({ topicPartitions: [{ topic, count: total }] }),
  async partition_count({ topic }) {
    if (!(await admin.listTopics()).includes(topic)) return 0
    return (await admin.fetchTopicMetadata({ topics: [topic] })).topics[0].partitions.length
  },
  async configs({ topic }) {
    const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [resource(topic)] })
    return Object.fromEntries(resources[0].configEntries.map(each => [each.configName, each.configValue]))
  },
  async set_config({ topic, name, value }) {
    await admin.alterConfigs({ validateOnly: false, resources: [resource(topic, { configEntries: [{ name, value }] })] })
  },
  async delete_records({ topic, partition, before_offset }) {
    await admin.fetchTopicOffsets(topic) // kafkajs looks for the leader before it has asked for the topic's metadata
    await admin.deleteTopicRecords({ topic, partitions: [{ partition, offset: String(before_offset) }] })
  },
  async write({ topic, partition, codec, records }) {
    const producer = kafka.producer({ idempotent: true, maxInFlightRequests: 1, createPartitioner: () => () => partition })
    await producer.connect()
    try {
      const messages = records.map(record => message(record, partition))
      const [sent] = await producer.send({ topic, acks: -1, compression: codecs[codec], messages })
      return records.map((_, at) => Number(sent.baseOffset) + at)
    } finally {
      await producer.disconnect()
    }
  },
  async read({ topic, partition, offset, count, wait_ms }) {
    await cluster.addTargetTopic(topic)
    const [found] = cluster.findTopicPartitionMetadata(topic).filter(each => each.partitionId === partition)
    const broker = await cluster.findBroker({ nodeId: String(found.leader) })
    const rows = []
    const deadline = Date.now() + wait_ms
    while (rows.length < count && Date.now() < deadline) {
      const fetchOffset = String(offset + rows.length)
      const topics = [{ topic, partitions: [{ partition, fetchOffset, maxBytes: 1048576 }] }]
      const answer = await broker.fetch({ maxWaitTime: 500, isolationLevel: 0, topics })
      const { messages } = answer.responses[0].partitions[0]
      // A fetch returns whole batches: what lies before the offset is the reader's to skip.
      rows.push(...messages.filter(each => Number(each.offset) >= Number(fetchOffset)).map(row))
    }
    return rows.slice(0, count)
  },
  async bounds({ topic, partition }) {
    const { low, high } = ofPartition(await admin.fetchTopicOffsets(topic), partition)
    return [Number(low), Number(high)]
  },
  async offset_at({ topic, partition, timestamp_ms }) {
    return Number(ofPartition(await admin.fetchTopicOffsetsByTimestamp(topic, timestamp_ms), partition).offset)
  },
}

const refusal = error => {
  for (const each of [error, ...(error.errors || []), error.cause]) {
    if (each && each.refusedCode) return each.refusedCode
    if (each instanceof KafkaJSProtocolError) return each.code
    if (each && each.cause instanceof KafkaJSProtocolError) return each.cause.code
  }
  return undefined
}

const answer = async request => {
  try {
    return { answer: (await verbs[request.verb](request)) ?? null }
  } catch (error) {
    const code = refusal(error)
    return code === undefined ? { failed: String(error.stack) } : { refused: code, message: String(error.message) }
  }
}

const main = async () => {
  await admin.connect()
  await cluster.connect()
  for await (const line of readline.createInterface({ input: process.stdin })) {
    process.stdout.write(JSON.stringify(await answer(JSON.parse(line))) + '\n')
  }
  await admin.disconnect()
  await cluster.disconnect()
}

main()
