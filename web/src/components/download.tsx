import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { Download } from 'lucide-react';

interface DownloadButtonProps {
  readonly label?: string;
  readonly title?: string;
  readonly download: () => Promise<unknown>;
  /** Heads an error. */
  readonly failure?: string;
}

/** Apart from buttons.tsx, whose dialogs the first page does not load. */
export const DownloadButton = ({
  label = 'CSV',
  title,
  download,
  failure = 'The export failed',
}: DownloadButtonProps) => {
  const { mutate, isPending } = useMutation({ mutationFn: download, meta: { failure } });
  return (
    <Button
      size="xs"
      variant="default"
      loading={isPending}
      leftSection={<Download size={14} />}
      title={title}
      onClick={() => mutate()}
    >
      {label}
    </Button>
  );
};
