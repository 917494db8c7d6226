// Extensions use the types of this library, which are gone when they run.
export class Agent {
  constructor() {
    throw new Error("Agent is not there: ramal has one agent, and extensions take part in its work");
  }
}
export default {};
