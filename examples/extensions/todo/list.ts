// The list itself: what one change makes of it. It knows nothing of sessions.
export interface Todo {
  id: number;
  text: string;
  done: boolean;
}

export type Change = { action: "add"; text: string } | { action: "done"; id: number } | { action: "list" };

export function changed(list: readonly Todo[], change: Change): Todo[] {
  switch (change.action) {
    case "add":
      return [...list, { id: Math.max(0, ...list.map((todo) => todo.id)) + 1, text: change.text, done: false }];
    case "done":
      if (!list.some((todo) => todo.id === change.id)) throw new Error(`there is no todo ${change.id}`);
      return list.map((todo) => (todo.id === change.id ? { ...todo, done: true } : todo));
    case "list":
      return [...list];
  }
}

export const shown = (list: readonly Todo[]): string[] => list.map(({ id, text, done }) => `${done ? "✓" : "·"} ${id} ${text}`);
