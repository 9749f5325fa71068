// A member of a share group by the Java client: it acknowledges each record as it was told to, until it is closed or
// killed. One command a line in, one line of JSON out: "state" and "close".

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.apache.kafka.clients.consumer.AcknowledgeType;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

public class ShareWorker {
    static final ObjectMapper JSON = new ObjectMapper();

    final KafkaShareConsumer<byte[], byte[]> consumer;
    final String habit;
    final List<List<Long>> records = new ArrayList<>();
    boolean holds = false;

    ShareWorker(JsonNode options) {
        habit = options.get("habit").asText();
        Map<String, Object> config = new HashMap<>();
        config.put("bootstrap.servers", options.get("bootstrap").asText());
        config.put("group.id", options.get("group").asText());
        config.put("share.acknowledgement.mode", "explicit");
        config.put("max.poll.records", options.get("records").asInt());
        consumer = new KafkaShareConsumer<>(config, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        consumer.subscribe(List.of(options.get("topic").asText()));
    }

    public static void main(String[] args) throws Exception {
        ShareWorker worker = new ShareWorker(JSON.readTree(args[0]));
        ConcurrentLinkedQueue<String> commands = new ConcurrentLinkedQueue<>();
        Thread listening = new Thread(() -> listen(commands));
        listening.setDaemon(true);
        listening.start();
        for (String verb = ""; !verb.equals("close"); ) {
            String line = commands.poll();
            if (line == null) {
                worker.work();
                continue;
            }
            verb = JSON.readTree(line).get("verb").asText();
            Map<String, Object> said = new HashMap<>();
            said.put("answer", worker.records);
            if (verb.equals("close")) {
                worker.consumer.close();
            }
            System.out.println(JSON.writeValueAsString(said));
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

    void work() throws InterruptedException {
        if (holds) {
            Thread.sleep(20);
            return;
        }
        for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(200))) {
            records.add(List.of((long) record.partition(), record.offset(), (long) record.deliveryCount().get()));
            switch (habit) {
                case "hold": holds = true; break;
                case "release": consumer.acknowledge(record, AcknowledgeType.RELEASE); break;
                case "reject": consumer.acknowledge(record, AcknowledgeType.REJECT); break;
                default: consumer.acknowledge(record, AcknowledgeType.ACCEPT);
            }
        }
        if (!holds) {
            consumer.commitSync();
        }
    }
}
