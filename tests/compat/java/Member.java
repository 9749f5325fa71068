// A group member by the Java client: one command a line in, one line of JSON out, polls in between.
// What the commands are: tests/compat/members/__init__.py.

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

public class Member implements ConsumerRebalanceListener {
    static final ObjectMapper JSON = new ObjectMapper();
    static final long COMMIT_MS_MAX = 10_000;

    final String topic;
    final KafkaConsumer<byte[], byte[]> consumer;
    final List<List<Long>> records = new ArrayList<>();
    final List<Integer> revoked = new ArrayList<>();

    Member(JsonNode options) {
        topic = options.get("topic").asText();
        String flavour = options.get("flavour").asText();
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", options.get("bootstrap").asText());
        config.put("group.id", options.get("group").asText());
        config.put("auto.offset.reset", "earliest");
        config.put("enable.auto.commit", false);
        if (flavour.equals("consumer")) {
            config.put("group.protocol", "consumer");
        } else {
            config.put("session.timeout.ms", options.get("session_ms").asInt());
            config.put("heartbeat.interval.ms", 300);
            String assignor = flavour.equals("cooperative") ? "CooperativeStickyAssignor" : "RangeAssignor";
            config.put("partition.assignment.strategy", "org.apache.kafka.clients.consumer." + assignor);
        }
        if (!options.get("instance").isNull()) {
            config.put("group.instance.id", options.get("instance").asText());
        }
        consumer = new KafkaConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumer.subscribe(List.of(topic), this);
    }

    public static void main(String[] args) throws Exception {
        Member member = new Member(JSON.readTree(args[0]));
        ConcurrentLinkedQueue<String> commands = new ConcurrentLinkedQueue<>();
        Thread listening = new Thread(() -> listen(commands));
        listening.setDaemon(true);
        listening.start();
        for (String verb = ""; !verb.equals("close"); ) {
            String line = commands.poll();
            if (line == null) {
                member.poll();
                continue;
            }
            JsonNode command = JSON.readTree(line);
            verb = command.get("verb").asText();
            System.out.println(JSON.writeValueAsString(member.answer(verb, command)));
            System.out.flush();
        }
        Runtime.getRuntime().halt(0);
    }

    static void listen(ConcurrentLinkedQueue<String> commands) {
        try (BufferedReader lines = new BufferedReader(new InputStreamReader(System.in))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                commands.add(line);
            }
        } catch (java.io.IOException gone) {
            // as at the end of the input
        }
        Runtime.getRuntime().halt(0);
    }

    Map<String, Object> answer(String verb, JsonNode command) {
        Map<String, Object> said = new HashMap<>();
        try {
            said.put("answer", call(verb, command));
        } catch (Exception thrown) {
            said.put("failed", thrown.toString());
        }
        return said;
    }

    Object call(String verb, JsonNode command) {
        switch (verb) {
            case "state": return Map.of("assignment", assignment(), "records", records, "revoked", revoked);
            case "commit": consumer.commitSync(); return null;
            case "commit_async": return commitAsync();
            case "committed": return committed();
            case "seek":
                consumer.seek(new TopicPartition(topic, command.get("partition").asInt()), command.get("offset").asLong());
                return null;
            case "pause": consumer.pause(partitions(command)); return null;
            case "resume": consumer.resume(partitions(command)); return null;
            case "lag": return lag();
            case "close": consumer.close(); return null;
            default: throw new IllegalArgumentException("no such command: " + verb);
        }
    }

    void poll() {
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
            records.add(List.of((long) record.partition(), record.offset()));
        }
    }

    TreeSet<Integer> assignment() {
        TreeSet<Integer> numbers = new TreeSet<>();
        consumer.assignment().forEach(each -> numbers.add(each.partition()));
        return numbers;
    }

    Object commitAsync() {
        List<Exception> outcomes = new ArrayList<>();
        consumer.commitAsync((offsets, problem) -> outcomes.add(problem));
        long deadline = System.currentTimeMillis() + COMMIT_MS_MAX;
        while (outcomes.isEmpty() && System.currentTimeMillis() < deadline) {
            poll();
        }
        if (outcomes.isEmpty() || outcomes.get(0) != null) {
            throw new IllegalStateException("the commit was not acknowledged: " + outcomes);
        }
        return null;
    }

    Map<Integer, Long> committed() {
        Map<Integer, Long> found = new TreeMap<>();
        consumer.committed(consumer.assignment()).forEach((where, offset) -> {
            if (offset != null) {
                found.put(where.partition(), offset.offset());
            }
        });
        return found;
    }

    Map<Integer, Long> lag() {
        Map<Integer, Long> found = new TreeMap<>();
        consumer.endOffsets(consumer.assignment()).forEach((where, end) -> found.put(where.partition(), end - consumer.position(where)));
        return found;
    }

    List<TopicPartition> partitions(JsonNode command) {
        List<TopicPartition> named = new ArrayList<>();
        command.get("partitions").forEach(each -> named.add(new TopicPartition(topic, each.asInt())));
        return named;
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        partitions.forEach(each -> revoked.add(each.partition()));
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {}
}
