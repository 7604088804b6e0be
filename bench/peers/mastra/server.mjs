// The server that `mastra build` generates from src/mastra.
const host = "127.0.0.1";
process.env.MASTRA_HOST = host;
await import("./.mastra/output/index.mjs");
console.log(JSON.stringify({ url: `http://${host}:${process.env.PORT}` }));
