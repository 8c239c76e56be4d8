// Asks a gateway by the Vercel AI SDK, in each of its shapes; prints what came back as JSON.
const { generateText, streamText, tool, jsonSchema, embed } = require("ai");
const { createOpenAI } = require("@ai-sdk/openai");
const { createAnthropic } = require("@ai-sdk/anthropic");

globalThis.AI_SDK_LOG_WARNINGS = false; // they would be printed

async function main(base, text) {
  const given = { baseURL: `${base}/v1`, apiKey: "k" };
  const openai = createOpenAI(given);
  const shapes = { responses: openai, chat: openai.chat, anthropic: createAnthropic(given) };
  const schema = { type: "object", properties: { who: { type: "string" } } };
  const tools = { find: tool({ description: "Finds somebody.", inputSchema: jsonSchema(schema) }) };
  const found = {};
  for (const [name, make] of Object.entries(shapes)) {
    const ask = (more, model = "echo") => ({ model: make(model), maxRetries: 0, ...more });
    const user = { role: "user", content: text };
    const once = await generateText(ask({ system: "Help Novak.", prompt: text }));
    const later = [user, ...once.response.messages, { role: "user", content: "And Novak?" }];
    const again = await generateText(ask({ messages: later }));
    let streamed = "";
    for await (const part of streamText(ask({ prompt: text })).textStream) streamed += part;
    const called = await generateText(ask({ prompt: text, tools }, "call"));
    const call = called.toolCalls[0];
    const calls = await streamText(ask({ prompt: text, tools }, "call")).toolCalls;
    const output = { type: "json", value: { found: text } };
    const result = { type: "tool-result", toolCallId: call.toolCallId, toolName: "find", output };
    const messages = [user, ...called.response.messages, { role: "tool", content: [result] }];
    const told = await generateText(ask({ tools, messages }));
    found[name] = [once.text, again.text, streamed, call.input, calls[0].input, JSON.parse(told.text)];
  }
  found.embedding = (await embed({ model: openai.textEmbeddingModel("m"), value: text, maxRetries: 0 })).embedding;
  console.log(JSON.stringify(found));
}

main(...process.argv.slice(2));
