import { Modal, TagsInput } from '@mantine/core';
import { useForm } from '@mantine/form';
import { useApi } from '../app.ts';
import { useFocusBack } from '../components/keyboard.ts';
import { Loaded } from '../components/page.tsx';
import { SubmitForm } from '../forms/submit-form.tsx';

interface NamesProps {
  readonly dimensions: readonly { readonly name: string; readonly isDeclared: boolean }[];
  readonly limit: number;
  readonly onClose: () => void;
}

const Names = ({ dimensions, limit, onClose }: NamesProps) => {
  const declared = dimensions.filter(({ isDeclared }) => isDeclared).map(({ name }) => name);
  const form = useForm({ initialValues: { names: declared } });
  return (
    <SubmitForm
      form={form}
      request={useApi().useMutation('put', '/dimensions', { onSuccess: onClose })}
      sent={(body) => ({ body })}
      failure="The dimensions were not changed"
      submit="Save"
    >
      <p className="dim small">
        Requests carry names and values in the header X-Service-Metadata. Spend is split by the names listed here, for
        requests from now on. What was counted under a name stays when it is removed.
      </p>
      <TagsInput
        label="Metadata names"
        placeholder={form.values.names.length === 0 ? 'team, customer, env …' : ''}
        maxTags={limit}
        data={dimensions.map(({ name }) => name)}
        data-autofocus
        openOnFocus={false}
        {...form.getInputProps('names')}
      />
    </SubmitForm>
  );
};

const DeclareDimensions = ({ onClose }: { readonly onClose: () => void }) => {
  useFocusBack();
  const query = useApi().useQuery('get', '/dimensions');
  return (
    <Modal opened onClose={onClose} title="Dimensions of spend">
      <Loaded query={query} title="The dimensions could not be loaded" height={180}>
        {({ items, limit }) => <Names dimensions={items} limit={limit} onClose={onClose} />}
      </Loaded>
    </Modal>
  );
};

export default DeclareDimensions;
