// What an engine begins with.
export * from "ramal:host";
