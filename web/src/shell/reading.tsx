import { Modal, Select, Stack, Text } from '@mantine/core';
import { useApi, useMe } from '../app.ts';
import { useFocusBack } from '../components/keyboard.ts';
import { TextLink } from '../components/page.tsx';
import { type Choice, chosenZone, readsDollars } from '../format/reading.ts';

const ACCOUNT = 'account';

/** Keeps a choice in this browser; without a value, the account's. Everything is formatted with it, so the page reloads. */
const chooseReading = (choice: Choice, value: string | undefined): void => {
  if (value === undefined) localStorage.removeItem(choice);
  else localStorage.setItem(choice, value);
  location.reload();
};

/** IANA names of time zones, UTC first. */
export const zoneNames = () => ['UTC', ...Intl.supportedValuesOf('timeZone').filter((name) => name !== 'UTC')];

/** The zone and the currency that this person reads in, in this browser. The account's are those of all members, mails and reports. */
const Reading = ({ onClose }: { readonly onClose: () => void }) => {
  useFocusBack();
  const { me, may } = useMe();
  // Whoever sees a part of the account may not read its currency.
  const { data } = useApi().useQuery('get', '/prices', {}, { enabled: may('spend:read-all') });
  const code = data?.currency?.code;
  const ofAccount = `The account’s: ${me?.account.timeZone ?? 'UTC'}`;
  const own = Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <Modal opened onClose={onClose} title="Zone and currency">
      <Stack>
        <Select
          label="Time zone"
          description="Days of spend, and times. Where sums exist by UTC days only, the page says so."
          searchable
          limit={60}
          data={[
            { value: ACCOUNT, label: ofAccount },
            ...[...new Set([own, ...zoneNames()])].map((value) => ({ value, label: value.replaceAll('_', ' ') })),
          ]}
          value={chosenZone ?? ACCOUNT}
          onChange={(value) => chooseReading('time-zone', value === ACCOUNT ? undefined : (value ?? undefined))}
        />
        <Select
          label="Currency"
          description={data && !code ? 'The account has no currency next to US dollars.' : undefined}
          data={[
            { value: ACCOUNT, label: data ? `The account’s: ${code ?? 'US dollars'}` : 'The account’s' },
            { value: 'USD', label: 'US dollars' },
          ]}
          value={readsDollars ? 'USD' : ACCOUNT}
          onChange={(value) => chooseReading('currency', value === 'USD' ? 'USD' : undefined)}
        />
        <Text size="sm" c="dimmed">
          They are yours, in this browser.
          {may('reports:read') && (
            <>
              {' '}
              The account’s zone is set under <TextLink to="/reports">Reports</TextLink>, its currency under{' '}
              <TextLink to="/prices">Prices</TextLink>.
            </>
          )}
        </Text>
      </Stack>
    </Modal>
  );
};

export default Reading;
