// Java's own HttpClient, which does not decompress: BodyHandlers.ofLines(). Its Expect is written 100-Continue.
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;

public class Client {
    public static void main(String[] args) throws Exception {
        HttpClient client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        HttpRequest request = HttpRequest.newBuilder(URI.create(args[0]))
            .header("content-type", "application/json")
            .expectContinue(true)
            .POST(HttpRequest.BodyPublishers.ofString("{\"text\":\"Hi\"}"))
            .build();
        HttpResponse<java.util.stream.Stream<String>> response =
            client.send(request, HttpResponse.BodyHandlers.ofLines());
        if (response.statusCode() != 200) throw new Exception("status " + response.statusCode());
        response.body().forEach(line -> {
            System.out.println(line);
            System.out.flush();
        });
    }
}
