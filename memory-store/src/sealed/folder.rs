//! The folder of instances.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use memory_core::instance::{InstanceError, InstanceName};
use zeroize::Zeroizing;

use super::{FieldValue, InstanceDefinition, MasterKey, master_key, seal};
use crate::disk::{DirEntryKind, Disk, LazyDisk, replace_file};
use crate::history::{created, existing, file_error, folder_error};
use crate::lock::{PATIENCE, WriterLock};
use crate::oplog::trash_folder;
use memory_core::Operation;
use memory_core::text::windows_name_problem;

/// The folder of replaced and deleted definitions.
const TRASH: &str = ".trash";

/// The temporary file of a definition. There is one writer at a time.
const TEMP_FILE: &str = ".next.tmp";

/// The instances defined on this machine.
#[derive(Debug)]
pub struct InstanceFolder {
    definitions: LazyDisk,
    keys: LazyDisk,
    given: Option<MasterKey>,
    patience: Duration,
}

/// The new value of a field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NewFieldValue {
    /// A text that is not secret.
    Plain(String),
    /// A text to be sealed.
    Secret(Zeroizing<String>),
}

impl NewFieldValue {
    /// Returns a text to be sealed.
    pub fn secret(text: &str) -> Self {
        Self::Secret(Zeroizing::new(text.to_owned()))
    }
}

/// The file of a definition that was replaced or deleted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrashedDefinition {
    /// The path of the file in the trash.
    pub trash: PathBuf,
    /// The original path of the file.
    pub place: PathBuf,
}

impl InstanceFolder {
    /// Returns the instances defined in the folder `definitions`.
    ///
    /// Their fields are sealed under `given`, or else under the key in the folder `keys`.
    pub fn new(
        definitions: impl Into<PathBuf>,
        keys: impl Into<PathBuf>,
        given: Option<MasterKey>,
    ) -> Self {
        Self::from_lazy_disks(
            LazyDisk::new(definitions.into()),
            LazyDisk::new(keys.into()),
            given,
        )
    }

    /// Returns the instances as [`InstanceFolder::new`] does, with `disks` for the two folders.
    ///
    /// There is no given key.
    pub fn with_disks(definitions: PathBuf, keys: PathBuf, disks: [Arc<dyn Disk>; 2]) -> Self {
        let [first, second] = disks;
        Self::from_lazy_disks(
            LazyDisk::on_disk(definitions, first),
            LazyDisk::on_disk(keys, second),
            None,
        )
    }

    fn from_lazy_disks(definitions: LazyDisk, keys: LazyDisk, given: Option<MasterKey>) -> Self {
        Self {
            definitions,
            keys,
            given,
            patience: PATIENCE,
        }
    }

    /// Returns the path of the folder of definitions.
    pub fn root(&self) -> &Path {
        self.definitions.root()
    }

    /// Returns the definitions by type and name, with an error for each file that cannot be read.
    ///
    /// # Errors
    /// An error if a folder cannot be read.
    pub fn list(&self) -> Result<Vec<Result<InstanceDefinition, InstanceError>>, InstanceError> {
        let Some(disk) = self.disk()? else {
            return Ok(Vec::new());
        };
        let names = self.names(disk)?;
        Ok(names
            .iter()
            .filter_map(|(backend, name)| self.read(backend, name).transpose())
            .collect())
    }

    /// Returns the types and names of the definitions, sorted.
    fn names(&self, disk: &dyn Disk) -> Result<Vec<(InstanceName, InstanceName)>, InstanceError> {
        let mut names = Vec::new();
        for folder in disk.list_folder("").map_err(folder_error(self.root()))? {
            let Ok(backend) = folder.name.parse::<InstanceName>() else {
                continue;
            };
            if folder.kind != DirEntryKind::Folder {
                continue;
            }
            for file in disk
                .list_folder(backend.as_str())
                .map_err(file_error(backend.as_str()))?
            {
                if let Some(Ok(name)) = file
                    .name
                    .strip_suffix(".yaml")
                    .map(str::parse::<InstanceName>)
                {
                    names.push((backend.clone(), name));
                }
            }
        }
        names.sort();
        Ok(names)
    }

    /// Returns the definition of an instance, or `None` if it does not exist.
    ///
    /// # Errors
    /// [`InstanceError::Damaged`] if the file is not a definition; or an error of the disk.
    pub fn read(
        &self,
        backend: &InstanceName,
        name: &InstanceName,
    ) -> Result<Option<InstanceDefinition>, InstanceError> {
        let Some(disk) = self.disk()? else {
            return Ok(None);
        };
        let path = InstanceDefinition::path(backend, name);
        let Some((bytes, _)) = disk.read(&path).map_err(file_error(&path))? else {
            return Ok(None);
        };
        InstanceDefinition::parse(backend, name, &bytes).map(Some)
    }

    /// Defines an instance, and returns the definition that it replaces, which is moved to the trash.
    ///
    /// # Errors
    /// [`InstanceError::KeyMissing`] if other instances are sealed under a key that is missing; or an error of the
    /// disk. Nothing has changed then.
    pub fn write(
        &self,
        backend: &InstanceName,
        name: &InstanceName,
        fields: &[(String, NewFieldValue)],
        operation: &Operation,
    ) -> Result<Option<TrashedDefinition>, InstanceError> {
        let _lock = self.lock()?;
        self.check_new_name(backend, name)?;
        if fields
            .iter()
            .any(|(_, value)| matches!(value, NewFieldValue::Secret(_)))
        {
            self.check_key()?;
        }
        let mut sealed = Vec::with_capacity(fields.len());
        for (field, value) in fields {
            let value = match value {
                NewFieldValue::Plain(text) => FieldValue::Plain(text.clone()),
                NewFieldValue::Secret(secret) => {
                    let key = self
                        .given
                        .clone()
                        .map_or_else(|| master_key::load_or_create(&self.keys), Ok)?;
                    let purpose = InstanceDefinition::purpose(backend, name, field);
                    FieldValue::Sealed(
                        seal::seal(&key, &purpose, secret).map_err(file_error(field))?,
                    )
                }
            };
            sealed.push((field.clone(), value));
        }
        let text = InstanceDefinition {
            backend: backend.clone(),
            name: name.clone(),
            fields: sealed,
        }
        .to_yaml();
        let path = InstanceDefinition::path(backend, name);
        let disk = created(&self.definitions)?;
        let told = file_error(&path);
        let is_there = disk.stat(&path).map_err(told)?.is_some();
        if is_there {
            let folder = trash_folder(TRASH, operation);
            let kept = disk.hard_link(&path, &format!("{folder}/{}", trash_file_name(&path)));
            kept.and_then(|()| disk.sync_folder(&folder))
                .map_err(told)?;
        }
        replace_file(disk, TEMP_FILE, &path, text.as_bytes()).map_err(file_error(&path))?;
        Ok(is_there.then(|| self.trashed_definition(&path, operation)))
    }

    /// Returns an error if the instance is not defined yet and Windows does not allow the name, which is also that of a folder.
    fn check_new_name(
        &self,
        backend: &InstanceName,
        name: &InstanceName,
    ) -> Result<(), InstanceError> {
        let Some(why) = windows_name_problem(name.as_str()) else {
            return Ok(());
        };
        let path = InstanceDefinition::path(backend, name);
        let found = self
            .disk()?
            .map_or(Ok(None), |disk| disk.stat(&path))
            .map_err(file_error(&path))?;
        let refuse = || {
            Err(InstanceError::invalid_name(
                "the name of an instance",
                name.as_str(),
                why,
            ))
        };
        if found.is_some() { Ok(()) } else { refuse() }
    }

    /// Checks that sealing a field does not create a second master key.
    ///
    /// That would happen while instances are sealed under a master key that is missing.
    ///
    /// # Errors
    /// [`InstanceError::KeyMissing`] if it would create one; or an error of the disk.
    pub fn check_key(&self) -> Result<(), InstanceError> {
        if self.given.is_some() || !master_key::read_keys(&self.keys)?.is_empty() {
            return Ok(());
        }
        let instances = self.sealed_instances()?;
        let folder = self.keys.root().display().to_string();
        if instances.is_empty() {
            Ok(())
        } else {
            Err(InstanceError::KeyMissing { folder, instances })
        }
    }

    /// Returns the instances with a sealed field, as `type/name`.
    ///
    /// A file that cannot be parsed is included if it contains a sealed text.
    fn sealed_instances(&self) -> Result<Vec<String>, InstanceError> {
        let Some(disk) = self.disk()? else {
            return Ok(Vec::new());
        };
        let mut sealed = Vec::new();
        for (backend, name) in self.names(disk)? {
            let path = InstanceDefinition::path(&backend, &name);
            let Some((bytes, _)) = disk.read(&path).map_err(file_error(&path))? else {
                continue;
            };
            let is_sealed = match InstanceDefinition::parse(&backend, &name, &bytes) {
                Ok(definition) => definition
                    .fields
                    .iter()
                    .any(|(_, value)| matches!(value, FieldValue::Sealed(_))),
                Err(_) => String::from_utf8_lossy(&bytes).contains(seal::MARK),
            };
            if is_sealed {
                sealed.push(format!("{backend}/{name}"));
            }
        }
        Ok(sealed)
    }

    /// Decrypts the text of a sealed field.
    ///
    /// # Errors
    /// [`InstanceError::KeyMissing`] if there is no key; [`InstanceError::NotOpened`] if the key is a different one or
    /// the file was tampered with.
    pub fn open(
        &self,
        definition: &InstanceDefinition,
        field: &str,
        sealed: &str,
    ) -> Result<Zeroizing<String>, InstanceError> {
        let keys = if let Some(key) = &self.given {
            vec![key.clone()]
        } else {
            self.check_key()?;
            master_key::read_keys(&self.keys)?
        };
        self.decrypt_with_keys(
            &keys,
            &definition.backend,
            &definition.name,
            (field, sealed),
        )
    }

    fn decrypt_with_keys(
        &self,
        keys: &[MasterKey],
        backend: &InstanceName,
        name: &InstanceName,
        (field, sealed): (&str, &str),
    ) -> Result<Zeroizing<String>, InstanceError> {
        let purpose = InstanceDefinition::purpose(backend, name, field);
        let mut why = "there is no master key";
        for key in keys {
            match seal::open(key, &purpose, sealed) {
                Ok(secret) => return Ok(secret),
                Err(reason) => why = reason,
            }
        }
        let place = self
            .root()
            .join(InstanceDefinition::path(backend, name))
            .display()
            .to_string();
        Err(InstanceError::NotOpened {
            field: field.to_owned(),
            place,
            why,
        })
    }

    /// Moves the definition of an instance to the trash, and returns it if it existed.
    ///
    /// The data of the instance is not deleted.
    ///
    /// # Errors
    /// An error of the disk.
    pub fn remove(
        &self,
        backend: &InstanceName,
        name: &InstanceName,
        operation: &Operation,
    ) -> Result<Option<TrashedDefinition>, InstanceError> {
        let Some(disk) = self.disk()? else {
            return Ok(None);
        };
        let _lock = self.lock()?;
        let path = InstanceDefinition::path(backend, name);
        let told = file_error(&path);
        if disk.stat(&path).map_err(told)?.is_none() {
            return Ok(None);
        }
        let folder = trash_folder(TRASH, operation);
        disk.rename(&path, &format!("{folder}/{}", trash_file_name(&path)))
            .map_err(told)?;
        disk.sync_folder(&folder)
            .and_then(|()| disk.sync_folder(backend.as_str()))
            .map_err(told)?;
        Ok(Some(self.trashed_definition(&path, operation)))
    }

    fn trashed_definition(&self, path: &str, operation: &Operation) -> TrashedDefinition {
        let trash = self
            .root()
            .join(trash_folder(TRASH, operation))
            .join(trash_file_name(path));
        TrashedDefinition {
            trash,
            place: self.root().join(path),
        }
    }

    /// Seals all values under a new key, and returns the number of sealed fields.
    ///
    /// The new key is `given`, or else a generated one that replaces the key on the disk. After an interruption all
    /// values can still be decrypted, and the next call continues.
    ///
    /// # Errors
    /// [`InstanceError::NotOpened`] if a value cannot be decrypted, [`InstanceError::KeyMissing`] if there is no key,
    /// [`InstanceError::Invalid`] if a value cannot be replaced in its file; nothing has changed then. Or an error of
    /// the disk.
    pub fn rekey(&self, given: Option<&MasterKey>) -> Result<usize, InstanceError> {
        let _lock = self.lock()?;
        let is_on_disk = self.given.is_none();
        if is_on_disk && given.is_none() {
            self.check_key()?;
        }
        let (new, is_new) = match given {
            Some(key) => (key.clone(), false),
            None => master_key::next(&self.keys)?,
        };
        let known = match &self.given {
            Some(former) => vec![former.clone(), new.clone()],
            None => [master_key::read_keys(&self.keys)?, vec![new.clone()]].concat(),
        };
        let planned = match self.plan_reseal(&known, &new) {
            Ok(planned) => planned,
            Err(error) => {
                if is_on_disk && given.is_none() && is_new {
                    master_key::delete_next(&self.keys)?;
                }
                return Err(error);
            }
        };
        let mut count = 0;
        if !planned.is_empty() {
            let disk = created(&self.definitions)?;
            for (path, text, fields) in planned {
                replace_file(disk, TEMP_FILE, &path, text.as_bytes()).map_err(file_error(&path))?;
                count += fields;
            }
        }
        if is_on_disk && given.is_none() {
            master_key::replace_current(&self.keys)?;
        }
        Ok(count)
    }

    /// Returns the path of each file with sealed fields, its text under `new`, and the number of fields.
    fn plan_reseal(
        &self,
        known: &[MasterKey],
        new: &MasterKey,
    ) -> Result<Vec<(String, String, usize)>, InstanceError> {
        let mut planned = Vec::new();
        let Some(disk) = self.disk()? else {
            return Ok(planned);
        };
        for definition in self.list()? {
            let InstanceDefinition {
                backend,
                name,
                fields,
            } = definition?;
            let path = InstanceDefinition::path(&backend, &name);
            let told = file_error(&path);
            let Some((bytes, _)) = disk.read(&path).map_err(told)? else {
                continue;
            };
            let mut text =
                String::from_utf8(bytes).map_err(|error| told(std::io::Error::other(error)))?;
            let mut count = 0;
            for (field, value) in &fields {
                let FieldValue::Sealed(sealed) = value else {
                    continue;
                };
                let secret = self.decrypt_with_keys(known, &backend, &name, (field, sealed))?;
                let purpose = InstanceDefinition::purpose(&backend, &name, field);
                let again = seal::seal(new, &purpose, &secret).map_err(told)?;
                // The rest of the file is left as the user wrote it.
                text = text.replace(sealed.as_str(), &again);
                count += 1;
            }
            if 0 < count {
                self.verify_resealed(&backend, &name, &fields, &text, new)?;
                planned.push((path, text, count));
            }
        }
        Ok(planned)
    }

    /// Checks that each sealed field of a definition opens with the key `new` in `text`.
    ///
    /// The former key is deleted later, so a value that is still sealed under it would be lost. This happens to a value that
    /// the file contains in another spelling, such as over several lines.
    fn verify_resealed(
        &self,
        backend: &InstanceName,
        name: &InstanceName,
        fields: &[(String, FieldValue)],
        text: &str,
        new: &MasterKey,
    ) -> Result<(), InstanceError> {
        let resealed = InstanceDefinition::parse(backend, name, text.as_bytes())?;
        for (field, value) in fields {
            let FieldValue::Sealed(_) = value else {
                continue;
            };
            let purpose = InstanceDefinition::purpose(backend, name, field);
            let opens = |value: &FieldValue| matches!(value, FieldValue::Sealed(sealed) if seal::open(new, &purpose, sealed).is_ok());
            if !resealed.field(field).is_some_and(opens) {
                let place = self.root().join(InstanceDefinition::path(backend, name));
                let why = format!(
                    "the field {field} in {} cannot be sealed again as it is written there",
                    place.display()
                );
                return Err(InstanceError::invalid(
                    why,
                    "write the value on one line without quotation marks, then try again",
                ));
            }
        }
        Ok(())
    }

    fn disk(&self) -> Result<Option<&dyn Disk>, InstanceError> {
        existing(&self.definitions)
    }

    fn lock(&self) -> Result<WriterLock, InstanceError> {
        created(&self.keys)?;
        Ok(WriterLock::acquire_folder(self.keys.root(), self.patience)?)
    }
}

/// Returns the file name of a definition in the trash.
fn trash_file_name(path: &str) -> String {
    path.replace('/', "-")
}
