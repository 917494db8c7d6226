// What extensions use of the library of models: schemas, and small helpers over messages.
import { Type } from "typebox";

export { Type };

/** A choice of strings in the form that all providers take. */
export function StringEnum(values, options) {
  return Type.Unsafe({ type: "string", enum: [...values], ...options });
}

export const Static = undefined;

const refuse = (name) => () => {
  throw new Error(`${name} is not there: ramal lets extensions ask no models of their own`);
};
export const complete = refuse("complete");
export const completeSimple = refuse("completeSimple");
export const stream = refuse("stream");
export const streamSimple = refuse("streamSimple");
export const getModel = refuse("getModel");
export const getModels = () => [];
export const getProviders = () => [];
export const getEnvApiKey = () => undefined;
export const calculateCost = (_, usage) => usage?.cost;
export const supportsXhigh = () => false;
export const isContextOverflow = (message) =>
  message?.stopReason === "error" && /context|too long|maximum.*tokens/i.test(message.errorMessage ?? "");
export const validateToolArguments = (_, call) => call.arguments;

export default { Type, StringEnum };
