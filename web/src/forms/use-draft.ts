import type { UseFormReturnType } from '@mantine/form';
import { useEffect, useRef, useState } from 'react';

const PREFIX = 'draft ';

/** Forgets what was typed and not saved, such as when the user signs out. */
export const forgetDrafts = (): void => {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key);
};

/**
 * Keeps what was typed into a form in this tab, until it is saved or discarded: a reload, an ended session or a lost network loses
 * nothing. Members that were not changed are not kept: they may change elsewhere.
 *
 * @param item as it was read when the form was opened; it stays as the changes were made to it
 */
export const useDraft = <Values extends object, Item>(form: UseFormReturnType<Values>, name: string, item: Item) => {
  // That of the form as it was opened: a limit of another type is of another collection.
  const [key] = useState(PREFIX + name);
  const { values } = form;
  const [opened, setOpened] = useState(item);
  const [isRestored, setRestored] = useState(false);
  const hasBegun = useRef(false);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the form is another object with each key that is pressed.
  useEffect(() => {
    if (!hasBegun.current) {
      hasBegun.current = true;
      const draft = sessionStorage.getItem(key);
      if (draft === null) return;
      const restored = JSON.parse(draft) as { readonly typed: Partial<Values>; readonly opened: Item };
      form.setValues(restored.typed);
      setOpened(restored.opened ?? item);
      setRestored(true);
      return;
    }
    const initial = form.getInitialValues();
    const changed = Object.entries(values).filter(
      ([member, value]) => JSON.stringify(value) !== JSON.stringify(initial[member as keyof Values]),
    );
    sessionStorage.removeItem(key);
    try {
      const draft = { typed: Object.fromEntries(changed), opened };
      if (changed.length > 0) sessionStorage.setItem(key, JSON.stringify(draft));
    } catch {
      // The browser has no room for it: the form goes on without.
    }
  }, [key, values, opened]);
  const forget = () => {
    sessionStorage.removeItem(key);
    setRestored(false);
    setOpened(item);
  };
  return { isRestored, opened, forget };
};
