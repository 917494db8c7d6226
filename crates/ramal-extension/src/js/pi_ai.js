// What extensions use of the library of models: schemas, small helpers over messages, and a model asked for an
// answer.
import { Type } from "typebox";
import { complete, stream } from "ramal:context";
import { quick } from "ramal:native";

export { Type, complete, stream };
export const completeSimple = complete;
export const streamSimple = stream;

/** A choice of strings in the form that all providers take. */
export function StringEnum(values, options) {
  return Type.Unsafe({ type: "string", enum: [...values], ...options });
}

export const Static = undefined;

export const getModel = (provider, id) => quick("model.find", `${provider}/${id}`) ?? undefined;
export const getModels = (provider) => quick("model.all").filter((model) => provider === undefined || model.provider === provider);
export const getProviders = () => [...new Set(getModels().map((model) => model.provider))];
export const getEnvApiKey = () => undefined;

/** What tokens cost, in dollars. */
export function calculateCost(model, usage) {
  const price = (kind) => ((model?.cost?.[kind] ?? 0) * (usage?.[kind] ?? 0)) / 1e6;
  const cost = { input: price("input"), output: price("output"), cacheRead: price("cacheRead"), cacheWrite: price("cacheWrite") };
  cost.total = cost.input + cost.output + cost.cacheRead + cost.cacheWrite;
  if (usage) usage.cost = cost;
  return cost;
}

export const supportsXhigh = () => false;
export const isContextOverflow = (message) =>
  message?.stopReason === "error" && /context|too long|maximum.*tokens/i.test(message.errorMessage ?? "");
export const validateToolArguments = (_, call) => call.arguments;

/** An id that begins with the time. */
export function uuidv7() {
  const time = Date.now().toString(16).padStart(12, "0");
  const random = crypto.randomUUID();
  return `${time.slice(0, 8)}-${time.slice(8)}-7${random.slice(15)}`;
}

const isSystem = (message) => message?.role === "system";
const lastSystem = (messages) => (messages ?? []).filter(isSystem).at(-1);
export const getCurrentSystemMessage = (context) => lastSystem(context?.messages);
export const getCurrentSystemPrompt = (context) => {
  const content = lastSystem(context?.messages)?.content;
  return context?.systemPrompt ?? (typeof content === "string" ? content : undefined);
};
export const getCurrentTools = (context) => context?.tools ?? [];
export const collapseSystemMessages = (messages) => (messages ?? []).filter((message) => !isSystem(message));

const refuse = (name) => () => {
  throw new Error(`${name} is not there: models come from ramal's catalog, and ramal speaks to their providers itself`);
};
export const createProvider = refuse("createProvider");
export const registerApiProvider = refuse("registerApiProvider");
export const unregisterApiProviders = refuse("unregisterApiProviders");
export const createAssistantMessageEventStream = refuse("createAssistantMessageEventStream");
export const anthropicMessagesApi = refuse("anthropicMessagesApi");
export const openAICompletionsApi = refuse("openAICompletionsApi");
export const openAIResponsesApi = refuse("openAIResponsesApi");
export class ToolCallArgumentsStream {
  constructor() {
    refuse("ToolCallArgumentsStream")();
  }
}
export class AssistantMessageEventStream {
  constructor() {
    refuse("AssistantMessageEventStream")();
  }
}

export default { Type, StringEnum, complete, completeSimple, stream, streamSimple, getModel };
