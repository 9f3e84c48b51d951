// Calls DynamoDB as an application would, and prints what the library named logs: `node client.cjs URL LIBRARY`.
"use strict";

const [endpoint, library] = process.argv.slice(2);
const options = { endpoint, region: "us-east-1", credentials: { accessKeyId: "demo", secretAccessKey: "demo" }, maxAttempts: 1 };
const table = "orders";

function print(entry) {
  process.stdout.write(JSON.stringify({ level: "info", timestamp: new Date().toISOString(), service: "shop", ...entry }) + "\n");
}

const logger = { trace() {}, debug() {}, info: print, warn: print, error: print };

async function quietly(call) {
  try {
    return await call;
  } catch {
    return undefined;
  }
}

/** The same calls with values that the client at hand understands: typed ones, or plain ones. */
async function callAll(client, commands, value) {
  const key = (customer, order) => ({ PK: value(`CUSTOMER#${customer}`), SK: value(`ORDER#${order}`) });
  const item = (customer, order, total) => ({ ...key(customer, order), GSI1PK: value("OPEN"), GSI1SK: value(`DUE#${order}`), total: value(total) });
  const send = (name, input) => quietly(client.send(new commands[`${name}Command`](input)));
  const units = { ReturnConsumedCapacity: "INDEXES" };
  for (const [order, total] of [["1", 5], ["2", 50], ["3", 500]]) {
    await send("Put", { TableName: table, Item: item("1", order, total), ...units });
  }
  await send("Get", { TableName: table, Key: key("1", "1"), ConsistentRead: true, ...units });
  await send("Get", { TableName: table, Key: key("1", "none"), ...units });
  await send("Query", {
    TableName: table, KeyConditionExpression: "#p = :p AND begins_with(SK, :s)", FilterExpression: "#t > :t",
    ExpressionAttributeNames: { "#p": "PK", "#t": "total" },
    ExpressionAttributeValues: { ":p": value("CUSTOMER#1"), ":s": value("ORDER#"), ":t": value(40) },
    ScanIndexForward: false, Limit: 2, ...units,
  });
  await send("Query", {
    TableName: table, IndexName: "GSI1", KeyConditionExpression: "GSI1PK = :p", FilterExpression: "#t > :t",
    ExpressionAttributeNames: { "#t": "total" }, ExpressionAttributeValues: { ":p": value("OPEN"), ":t": value(9000) }, ...units,
  });
  await send("Scan", { TableName: table, ...units });
  await send("Update", {
    TableName: table, Key: key("1", "1"), UpdateExpression: "SET #t = :t",
    ExpressionAttributeNames: { "#t": "total" }, ExpressionAttributeValues: { ":t": value(6) }, ...units,
  });
  await send("Put", { TableName: table, Item: item("1", "1", 7), ConditionExpression: "attribute_not_exists(PK)" });
  await send("BatchGet", { RequestItems: { [table]: { Keys: [key("1", "1"), key("1", "2")] } }, ...units });
  await send("BatchWrite", { RequestItems: { [table]: [{ PutRequest: { Item: item("2", "1", 1) } }, { DeleteRequest: { Key: key("1", "3") } }] }, ...units });
  await send("TransactWrite", {
    TransactItems: [
      { Put: { TableName: table, Item: item("3", "1", 1), ConditionExpression: "attribute_not_exists(#k)", ExpressionAttributeNames: { "#k": "PK" } } },
      { ConditionCheck: { TableName: table, Key: key("1", "1"), ConditionExpression: "attribute_not_exists(#k)", ExpressionAttributeNames: { "#k": "SK" } } },
    ],
  });
  await send("Query", { TableName: table, IndexName: "GSI9", KeyConditionExpression: "a = :a", ExpressionAttributeValues: { ":a": value("CUSTOMER#secret") } });
  await send("Delete", { TableName: table, Key: key("1", "2"), ...units });
}

function bareClient(more) {
  const sdk = require("@aws-sdk/client-dynamodb");
  const client = new sdk.DynamoDBClient({ ...options, ...more });
  const names = { Put: "PutItem", Get: "GetItem", Update: "UpdateItem", Delete: "DeleteItem", BatchGet: "BatchGetItem", BatchWrite: "BatchWriteItem", TransactWrite: "TransactWriteItems" };
  const commands = { ...sdk };
  for (const [short, long] of Object.entries(names)) commands[`${short}Command`] = sdk[`${long}Command`];
  return [client, commands, (plain) => (typeof plain === "number" ? { N: String(plain) } : { S: plain })];
}

const libraries = {
  async bare() {
    const [client, commands, value] = bareClient({ logger });
    await callAll(client, commands, value);
    await client.send(new commands.DescribeTableCommand({ TableName: table }));
  },

  async document() {
    const { DynamoDBClient } = require("@aws-sdk/client-dynamodb");
    const lib = require("@aws-sdk/lib-dynamodb");
    await callAll(lib.DynamoDBDocumentClient.from(new DynamoDBClient({ ...options, logger })), lib, (plain) => plain);
  },

  async dynamoose() {
    const dynamoose = require("dynamoose");
    dynamoose.aws.ddb.set(new dynamoose.aws.ddb.DynamoDB(options));
    const log = await dynamoose.logger();
    log.providers.set({ log: (message) => process.stdout.write(`${message.timestamp.toISOString()} ${message.category} - ${message.message}\n`) });
    const Order = dynamoose.model("Order", new dynamoose.Schema({ PK: { type: String, hashKey: true }, SK: { type: String, rangeKey: true }, total: Number }));
    new dynamoose.Table(table, [Order], { create: false, waitForActive: false });
    await Order.create({ PK: "CUSTOMER#7", SK: "ORDER#1", total: 3 });
    await Order.get({ PK: "CUSTOMER#7", SK: "ORDER#1" });
    await Order.query("PK").eq("CUSTOMER#7").filter("total").gt(9).exec();
    await Order.scan().exec();
  },

  async electrodb() {
    const { DynamoDBClient } = require("@aws-sdk/client-dynamodb");
    const { DynamoDBDocumentClient } = require("@aws-sdk/lib-dynamodb");
    const { Entity } = require("electrodb");
    const Order = new Entity(
      {
        model: { entity: "order", service: "shop", version: "1" },
        attributes: { customer: { type: "string" }, order: { type: "string" }, total: { type: "number" } },
        indexes: { orders: { pk: { field: "PK", composite: ["customer"] }, sk: { field: "SK", composite: ["order"] } } },
      },
      { client: DynamoDBDocumentClient.from(new DynamoDBClient(options)), table, logger: print },
    );
    await Order.put({ customer: "8", order: "1", total: 3 }).go();
    await Order.get({ customer: "8", order: "1" }).go();
    await Order.query.orders({ customer: "8" }).where(({ total }, { gt }) => gt(total, 9)).go();
    await quietly(Order.create({ customer: "8", order: "1", total: 3 }).go());
  },

  async opentelemetry() {
    const { registerInstrumentations } = require("@opentelemetry/instrumentation");
    const { AwsInstrumentation } = require("@opentelemetry/instrumentation-aws-sdk");
    const { OTLPTraceExporter } = require("@opentelemetry/exporter-trace-otlp-http");
    const { resourceFromAttributes } = require("@opentelemetry/resources");
    const { NodeTracerProvider, SimpleSpanProcessor } = require("@opentelemetry/sdk-trace-node");
    const exporter = new OTLPTraceExporter({ url: process.env.RECEIVER });
    const provider = new NodeTracerProvider({
      resource: resourceFromAttributes({ "service.name": "shop", "telemetry.sdk.language": "nodejs" }),
      spanProcessors: [new SimpleSpanProcessor(exporter)],
    });
    provider.register();
    registerInstrumentations({ instrumentations: [new AwsInstrumentation()] });
    await callAll(...bareClient({}));
    await provider.shutdown();
  },
};

libraries[library]().catch((error) => {
  console.error(error);
  process.exit(1);
});
