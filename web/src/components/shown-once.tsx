import { Alert, Button, Stack } from '@mantine/core';
import type { ReactNode } from 'react';
import { CopyToClipboard } from './copy.tsx';

interface ShownOnceProps {
  readonly secret: string;
  /** Kind, such as `key`. */
  readonly what: string;
  readonly children: ReactNode;
  readonly onClose: () => void;
}

/** A secret that the API returns only once, and a button that copies it. */
export const ShownOnce = ({ secret, what, children, onClose }: ShownOnceProps) => (
  <Stack>
    <Alert color="yellow" variant="light">
      {children}
    </Alert>
    <div className="secret">
      <code className="mono">{secret}</code>
      <CopyToClipboard value={secret} label={`Copy the ${what}`} />
    </div>
    <Button onClick={onClose}>Done</Button>
  </Stack>
);
