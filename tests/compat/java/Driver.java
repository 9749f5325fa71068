// The Java client and the Java command-line tools, driven by JSON lines on standard input.
//
//     {"verb": "read", "topic": "t", ...}  ->  {"answer": ...} | {"refused": 36, "message": ...} | {"failed": ...}
//
// One JVM serves all checks. The tools are called by their main methods; Kafka's tools leave through
// org.apache.kafka.common.utils.Exit, whose procedure we replace, so that a tool's exit code is an answer.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndTimestamp;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.common.protocol.Errors;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.utils.Exit;

public class Driver {
    static final int ANSWER_S_MAX = 15;
    static final ObjectMapper JSON = new ObjectMapper();
    static Integer exitCode;

    final String bootstrap;
    final Admin admin;

    Driver(String bootstrap) {
        this.bootstrap = bootstrap;
        this.admin = Admin.create(Map.of("bootstrap.servers", bootstrap));
    }

    public static void main(String[] args) throws Exception {
        PrintStream answers = System.out;
        Exit.setExitProcedure((code, message) -> leave(code));
        Exit.setHaltProcedure((code, message) -> leave(code));
        Driver driver = new Driver(args[0]);
        BufferedReader requests = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line = requests.readLine(); line != null; line = requests.readLine()) {
            answers.println(JSON.writeValueAsString(driver.answer(JSON.readTree(line))));
            answers.flush();
        }
        driver.admin.close(Duration.ofSeconds(5));
        Runtime.getRuntime().halt(0); // a tool that was refused may have left a thread behind
    }

    Map<String, Object> answer(JsonNode request) {
        Map<String, Object> said = new LinkedHashMap<>();
        try {
            said.put("answer", call(request));
        } catch (Throwable thrown) {
            Throwable cause = thrown instanceof ExecutionException ? thrown.getCause() : thrown;
            if (cause instanceof ApiException) {
                said.put("refused", (int) Errors.forException(cause).code());
                said.put("message", String.valueOf(cause.getMessage()));
            } else {
                said.put("failed", cause.toString());
            }
        }
        return said;
    }

    Object call(JsonNode request) throws Exception {
        String topic = request.path("topic").asText();
        TopicPartition where = new TopicPartition(topic, request.path("partition").asInt());
        switch (request.get("verb").asText()) {
            case "create_topic": return createTopic(topic, request.get("partitions").asInt(), request.get("configs"));
            case "delete_topic": return settle(admin.deleteTopics(List.of(topic)).all());
            case "add_partitions":
                return settle(admin.createPartitions(Map.of(topic, NewPartitions.increaseTo(request.get("total").asInt()))).all());
            case "partition_count": return partitionCount(topic);
            case "configs": return configs(topic);
            case "set_config": return setConfig(topic, request.get("name").asText(), request.get("value").asText());
            case "delete_records":
                return settle(admin.deleteRecords(
                    Map.of(where, RecordsToDelete.beforeOffset(request.get("before_offset").asLong()))).all());
            case "write": return write(where, request.get("codec").asText(), request.get("records"));
            case "write_across_recreation": return writeAcrossRecreation(topic);
            case "read":
                return read(where, request.get("offset").asLong(), request.get("count").asInt(), request.get("wait_ms").asLong());
            case "bounds": return bounds(where);
            case "offset_at": return offsetAt(where, request.get("timestamp_ms").asLong());
            case "tool": return tool(request.get("main").asText(), request.get("arguments"));
            default: throw new IllegalArgumentException("no such verb: " + request.get("verb"));
        }
    }

    Object createTopic(String topic, int partitions, JsonNode configs) throws Exception {
        Map<String, String> wanted = new HashMap<>();
        configs.properties().forEach(entry -> wanted.put(entry.getKey(), entry.getValue().asText()));
        NewTopic created = new NewTopic(topic, Optional.of(partitions), Optional.empty()).configs(wanted);
        return settle(admin.createTopics(List.of(created)).all());
    }

    int partitionCount(String topic) throws Exception {
        try {
            return settle(admin.describeTopics(List.of(topic)).topicNameValues().get(topic)).partitions().size();
        } catch (ExecutionException thrown) {
            if (thrown.getCause() instanceof UnknownTopicOrPartitionException) {
                return 0;
            }
            throw thrown;
        }
    }

    Map<String, String> configs(String topic) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        Map<String, String> found = new LinkedHashMap<>();
        for (ConfigEntry entry : settle(admin.describeConfigs(List.of(resource)).all()).get(resource).entries()) {
            found.put(entry.name(), entry.value());
        }
        return found;
    }

    Object setConfig(String topic, String name, String value) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        AlterConfigOp set = new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET);
        return settle(admin.incrementalAlterConfigs(Map.of(resource, List.of(set))).all());
    }

    List<Long> write(TopicPartition where, String codec, JsonNode records) throws Exception {
        Map<String, Object> options = Map.of(
            "bootstrap.servers", bootstrap, "acks", "all", "enable.idempotence", true, "compression.type", codec,
            "linger.ms", 5, "batch.size", 16384);
        ByteArraySerializer bytes = new ByteArraySerializer();
        List<Future<RecordMetadata>> pending = new ArrayList<>();
        List<Long> offsets = new ArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(options, bytes, bytes)) {
            for (JsonNode record : records) {
                List<Header> headers = new ArrayList<>();
                for (JsonNode header : record.get("headers")) {
                    headers.add(new RecordHeader(header.get(0).asText(), unpacked(header.get(1))));
                }
                pending.add(producer.send(new ProducerRecord<>(
                    where.topic(), where.partition(), record.get("timestamp_ms").asLong(),
                    unpacked(record.get("key")), unpacked(record.get("value")), headers)));
            }
            for (Future<RecordMetadata> sent : pending) {
                offsets.add(sent.get(ANSWER_S_MAX, TimeUnit.SECONDS).offset());
            }
        }
        return offsets;
    }

    /** One producer before and after: its next sequence is one that nobody knows the first of. */
    List<Long> writeAcrossRecreation(String topic) throws Exception {
        ByteArraySerializer bytes = new ByteArraySerializer();
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, 0, null, new byte[] {1});
        List<Long> offsets = new ArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer =
                new KafkaProducer<>(Map.of("bootstrap.servers", bootstrap), bytes, bytes)) {
            offsets.add(producer.send(record).get(ANSWER_S_MAX, TimeUnit.SECONDS).offset());
            settle(admin.deleteTopics(List.of(topic)).all());
            settle(admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1))).all());
            for (int sent = 0; sent < 2; sent++) {
                offsets.add(producer.send(record).get(ANSWER_S_MAX, TimeUnit.SECONDS).offset());
            }
        }
        return offsets;
    }

    List<Object> read(TopicPartition where, long offset, int count, long waitMs) {
        long deadline = System.nanoTime() + waitMs * 1_000_000;
        List<Object> rows = new ArrayList<>();
        try (KafkaConsumer<byte[], byte[]> consumer = consumer()) {
            consumer.assign(List.of(where));
            consumer.seek(where, offset);
            while (rows.size() < count && System.nanoTime() < deadline) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(500))) {
                    if (rows.size() < count) {
                        rows.add(row(record));
                    }
                }
            }
        }
        return rows;
    }

    static Map<String, Object> row(ConsumerRecord<byte[], byte[]> record) {
        List<Object> headers = new ArrayList<>();
        for (Header header : record.headers()) {
            List<Object> pair = new ArrayList<>();
            pair.add(header.key());
            pair.add(packed(header.value()));
            headers.add(pair);
        }
        Map<String, Object> row = new LinkedHashMap<>();
        row.put("offset", record.offset());
        row.put("timestamp_ms", record.timestamp());
        row.put("key", packed(record.key()));
        row.put("value", packed(record.value()));
        row.put("headers", headers);
        return row;
    }

    List<Long> bounds(TopicPartition where) {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer()) {
            return List.of(consumer.beginningOffsets(List.of(where)).get(where), consumer.endOffsets(List.of(where)).get(where));
        }
    }

    long offsetAt(TopicPartition where, long timestampMs) {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer()) {
            OffsetAndTimestamp found = consumer.offsetsForTimes(Map.of(where, timestampMs)).get(where);
            return found != null ? found.offset() : consumer.endOffsets(List.of(where)).get(where);
        }
    }

    KafkaConsumer<byte[], byte[]> consumer() {
        ByteArrayDeserializer bytes = new ByteArrayDeserializer();
        return new KafkaConsumer<>(Map.of("bootstrap.servers", bootstrap, "enable.auto.commit", false), bytes, bytes);
    }

    Map<String, Object> tool(String main, JsonNode arguments) throws Exception {
        List<String> words = new ArrayList<>();
        arguments.forEach(word -> words.add(word.asText()));
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream errors = new ByteArrayOutputStream();
        PrintStream stdout = System.out;
        PrintStream stderr = System.err;
        exitCode = null;
        System.setOut(new PrintStream(out, true, StandardCharsets.UTF_8));
        System.setErr(new PrintStream(errors, true, StandardCharsets.UTF_8));
        try {
            // Scala's Console keeps the stream it saw first, so Scala tools are given ours for this call.
            scala.Console.withOut(System.out, () -> run(main, words));
        } catch (Left left) {
            // It has said its exit code.
        } finally {
            System.setOut(stdout);
            System.setErr(stderr);
        }
        return Map.of(
            "code", exitCode == null ? 0 : exitCode,
            "out", out.toString(StandardCharsets.UTF_8),
            "errors", errors.toString(StandardCharsets.UTF_8));
    }

    static Object run(String main, List<String> words) {
        try {
            Class.forName(main).getMethod("main", String[].class).invoke(null, (Object) words.toArray(new String[0]));
            return null;
        } catch (java.lang.reflect.InvocationTargetException thrown) {
            if (!(thrown.getCause() instanceof Left)) {
                thrown.getCause().printStackTrace();
                leave(1); // as the JVM would: a stack trace and exit code 1
            }
            throw (Left) thrown.getCause();
        } catch (ReflectiveOperationException thrown) {
            throw new IllegalArgumentException(thrown);
        }
    }

    static <T> T settle(org.apache.kafka.common.KafkaFuture<T> future) throws Exception {
        return future.get(ANSWER_S_MAX, TimeUnit.SECONDS);
    }

    static String packed(byte[] data) {
        return data == null ? null : Base64.getEncoder().encodeToString(data);
    }

    static byte[] unpacked(JsonNode text) {
        return text.isNull() ? null : Base64.getDecoder().decode(text.asText());
    }

    /** The first code counts: some tools catch what we throw here, take it for a failure and leave again with 1. */
    static void leave(int code) {
        if (exitCode == null) {
            exitCode = code;
        }
        throw new Left();
    }

    /** A tool asked to leave the JVM. An Error, so that no tool's own catch (Exception) swallows it. */
    static class Left extends Error {
        Left() {
            super("left", null, false, false);
        }
    }
}
