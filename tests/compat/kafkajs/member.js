// A group member by kafkajs: one command a line in, one line of JSON out. kafkajs polls by itself.
// What the commands are: tests/compat/members/__init__.py.

const path = require('path')
const readline = require('readline')
const { Kafka, logLevel } = require(path.join(process.argv[3], 'kafkajs'))

const options = JSON.parse(process.argv[2])
const { topic, group } = options
const kafka = new Kafka({ brokers: options.bootstrap.split(','), clientId: 'member', logLevel: logLevel.NOTHING })
const consumer = kafka.consumer({
  groupId: group,
  sessionTimeout: options.session_ms,
  rebalanceTimeout: 10000,
  heartbeatInterval: 300,
  maxWaitTimeInMs: 200,
})
const admin = kafka.admin()

const records = []
const revoked = []
const positions = new Map()
let assignment = []

consumer.on(consumer.events.GROUP_JOIN, ({ payload }) => {
  assignment = [...(payload.memberAssignment[topic] || [])].sort((a, b) => a - b)
  positions.clear()
})
consumer.on(consumer.events.REBALANCING, () => {
  revoked.push(...assignment)
  assignment = []
})

const offsetsRead = () => [...positions].map(([partition, offset]) => ({ topic, partition, offset: String(offset) }))

const committed = async () => {
  const [found] = await admin.fetchOffsets({ groupId: group, topics: [topic] })
  return Object.fromEntries(
    found.partitions.filter(each => Number(each.offset) >= 0).map(each => [each.partition, Number(each.offset)])
  )
}

const verbs = {
  state: () => ({ assignment, records, revoked }),
  commit: () => consumer.commitOffsets(offsetsRead()),
  commit_async: () => Promise.all([consumer.commitOffsets(offsetsRead()), new Promise(setImmediate)]),
  committed,
  seek: ({ partition, offset }) => consumer.seek({ topic, partition, offset: String(offset) }),
  pause: ({ partitions }) => consumer.pause([{ topic, partitions }]),
  resume: ({ partitions }) => consumer.resume([{ topic, partitions }]),
  async lag() {
    const offsets = await admin.fetchTopicOffsets(topic)
    const known = await committed()
    const position = partition => positions.get(partition) ?? known[partition] ?? 0
    return Object.fromEntries(
      assignment.map(p => [p, Number(offsets.find(each => each.partition === p).high) - position(p)])
    )
  },
  async close() {
    await consumer.disconnect()
    await admin.disconnect()
  },
}

const answer = async command => {
  try {
    return { answer: (await verbs[command.verb](command)) ?? null }
  } catch (error) {
    return { failed: String(error.stack) }
  }
}

const main = async () => {
  await admin.connect()
  await consumer.connect()
  await consumer.subscribe({ topics: [topic], fromBeginning: true })
  await consumer.run({
    autoCommit: false,
    eachMessage: async ({ partition, message }) => {
      records.push([partition, Number(message.offset)])
      positions.set(partition, Number(message.offset) + 1)
    },
  })
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const command = JSON.parse(line)
    process.stdout.write(JSON.stringify(await answer(command)) + '\n')
    if (command.verb === 'close') break
  }
  process.exit(0)
}

main()
