import { ActionIcon, Alert, Button, CopyButton, Stack, Tooltip } from '@mantine/core';
import { useBlocker } from '@tanstack/react-router';
import { Check, Copy } from 'lucide-react';
import type { ReactNode } from 'react';

export const CopyToClipboard = ({ value, label }: { readonly value: string; readonly label: string }) => (
  <CopyButton value={value} timeout={2000}>
    {({ copied, copy }) => (
      <Tooltip label={copied ? 'Copied' : label}>
        <ActionIcon color={copied ? 'teal' : 'gray'} onClick={copy} aria-label={copied ? 'Copied' : label}>
          {copied ? <Check size={16} /> : <Copy size={16} />}
        </ActionIcon>
      </Tooltip>
    )}
  </CopyButton>
);

interface ShownOnceProps {
  readonly secret: string;
  /** Kind, such as `key`. */
  readonly what: string;
  /** What it is for, where that is not known. */
  readonly children?: ReactNode;
  readonly onClose: () => void;
}

const takeFocus = (element: HTMLElement | null) => element?.focus();

/**
 * A secret that the API returns only once, and a button that copies it. It takes the focus that the form before it had. Until the button
 * closes it, nothing but the end of the session leaves the page: the browser's Back would lose it.
 */
export const ShownOnce = ({ secret, what, children, onClose }: ShownOnceProps) => {
  useBlocker({ shouldBlockFn: ({ next }) => next.pathname !== '/sign-in' });
  return (
    <Stack>
      <Alert ref={takeFocus} tabIndex={-1} color="yellow">
        {children} This {what} is shown only once. Copy it now.
      </Alert>
      <div className="secret">
        <code className="mono">{secret}</code>
        <CopyToClipboard value={secret} label={`Copy the ${what}`} />
      </div>
      <Button onClick={onClose}>Done</Button>
    </Stack>
  );
};
