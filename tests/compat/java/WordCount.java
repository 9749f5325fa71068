import java.time.Duration;
import java.util.Arrays;
import java.util.Properties;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Grouped;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.Produced;
import org.apache.kafka.streams.processor.StateRestoreListener;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * Counts words: a repartition topic, a state store with its changelog. Says what it restored; ends with its input.
 * A sixth argument is the processing guarantee; every count is written then.
 */
public final class WordCount {
    public static void main(String[] arguments) throws Exception {
        String bootstrap = arguments[0], application = arguments[1], lines = arguments[2], counts = arguments[3];
        Properties config = new Properties();
        config.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrap);
        config.put(StreamsConfig.APPLICATION_ID_CONFIG, application);
        config.put(StreamsConfig.STATE_DIR_CONFIG, arguments[4]);
        config.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, 200);
        config.put("auto.offset.reset", "earliest");
        if (arguments.length > 5) {
            config.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, arguments[5]);
            config.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, 0);  // every count is written, so none can hide
        }
        config.put("session.timeout.ms", 6000);
        config.put("heartbeat.interval.ms", 500);

        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(lines, Consumed.with(Serdes.ByteArray(), Serdes.String()))
            .flatMapValues(line -> Arrays.asList(line.split(" ")))
            .groupBy((key, word) -> word, Grouped.with(Serdes.String(), Serdes.String()))
            .count(Materialized.<String, Long, KeyValueStore<Bytes, byte[]>>as("counts")
                .withKeySerde(Serdes.String()).withValueSerde(Serdes.Long()))
            .toStream()
            .mapValues(count -> Long.toString(count))
            .to(counts, Produced.with(Serdes.String(), Serdes.String()));

        try (KafkaStreams streams = new KafkaStreams(builder.build(), config)) {
            streams.setGlobalStateRestoreListener(new Restored());
            streams.start();
            while (System.in.read() >= 0) { }
            streams.close(Duration.ofSeconds(30));
        }
    }

    private static final class Restored implements StateRestoreListener {
        public void onRestoreStart(TopicPartition partition, String store, long from, long to) { }
        public void onBatchRestored(TopicPartition partition, String store, long end, long count) { }
        public void onRestoreEnd(TopicPartition partition, String store, long count) {
            System.out.println("restored " + count);
            System.out.flush();
        }
    }
}
