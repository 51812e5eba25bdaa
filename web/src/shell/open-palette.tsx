import { Button } from '@mantine/core';
import { useHotkeys } from '@mantine/hooks';
import { Search } from 'lucide-react';
import { lazy, Suspense, useState } from 'react';

/** Loaded when it is first asked for. */
const Palette = lazy(() => import('./palette.tsx'));

const isApple = /mac|iphone|ipad/i.test(navigator.userAgent);

/** The button, and Ctrl-K or ⌘K anywhere, that opens the command palette. */
export const OpenPalette = () => {
  const [opened, setOpened] = useState(false);
  const open = () => setOpened(true);
  useHotkeys([['mod+K', open]], []);
  return (
    <>
      <Button
        variant="default"
        size="xs"
        mb={12}
        c="dimmed"
        justify="space-between"
        leftSection={<Search size={16} aria-hidden />}
        rightSection={<kbd>{isApple ? '⌘K' : 'Ctrl K'}</kbd>}
        onClick={open}
      >
        Go to …
      </Button>
      {opened && (
        <Suspense>
          <Palette onClose={() => setOpened(false)} />
        </Suspense>
      )}
    </>
  );
};
