/** Starts Trino's server: the program of its distribution, which Maven Central does not have for this version. */
public final class Trino {
    public static void main(String[] args) {
        new io.trino.server.Server().start(args[0]);
    }
}
