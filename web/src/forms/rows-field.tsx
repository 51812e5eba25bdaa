import { ActionIcon, Button, Group } from '@mantine/core';
import type { UseFormReturnType } from '@mantine/form';
import { Plus, X } from 'lucide-react';
import type { ReactNode } from 'react';

interface RowsFieldProps<Values> {
  readonly form: UseFormReturnType<Values>;
  /** The member of the form with the rows. */
  readonly list: keyof Values & string;
  /** Name of a row: `rate`. */
  readonly row: string;
  readonly newRow: object;
  /** One by default. */
  readonly min?: number;
  readonly max?: number;
  readonly children: (index: number) => ReactNode;
}

export const RowsField = <Values extends object>(props: RowsFieldProps<Values>) => {
  const { form, list, row } = props;
  const rows = form.values[list] as readonly unknown[];
  return (
    <>
      {rows.map((_, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a row is its place while it is typed.
        <Group key={index} align="flex-start">
          {props.children(index)}
          <ActionIcon
            size="lg"
            style={{ alignSelf: 'flex-end' }}
            aria-label={`Remove ${row} ${index + 1}`}
            disabled={rows.length === (props.min ?? 1)}
            onClick={() => form.removeListItem(list as never, index)}
          >
            <X size={16} />
          </ActionIcon>
        </Group>
      ))}
      <Group>
        <Button
          size="xs"
          variant="default"
          leftSection={<Plus size={14} />}
          disabled={rows.length >= (props.max ?? Number.POSITIVE_INFINITY)}
          onClick={() => form.insertListItem(list as never, props.newRow as never)}
        >
          {`Another ${row}`}
        </Button>
      </Group>
    </>
  );
};
